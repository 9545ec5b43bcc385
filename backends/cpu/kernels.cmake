# Tables 5 and 6: the operators, one file each. They are sources of an object library: out of an archive the linker would
# drop them, because nothing names them; REGISTER_KERNEL's list is found through a section.
set(operators
  kernels/add.cpp kernels/cast.cpp kernels/copy.cpp kernels/exp.cpp kernels/fill.cpp kernels/matmul.cpp kernels/max.cpp
  kernels/mul.cpp kernels/reduce_sum.cpp kernels/relu.cpp kernels/softmax.cpp kernels/sub.cpp)
set(operators_common kernels/common/gemm.cpp kernels/common/gemm_own.cpp)
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.h REQUIRED)  # the library itself is opened when first needed

target_sources(hal_cpu_core PRIVATE src/kernel.cpp ${operators} ${operators_common})
# -O2 leaves loops of unknown length scalar, and floating-point exceptions, which nobody reads here, leave those with a
# comparison scalar (Max, Relu, Exp, Softmax).
set_source_files_properties(${operators} kernels/common/gemm_own.cpp PROPERTIES
  COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-O3;-fno-trapping-math>")
set_source_files_properties(${operators} ${operators_common} PROPERTIES INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR}/src)
set_property(SOURCE kernels/common/gemm.cpp APPEND PROPERTY INCLUDE_DIRECTORIES ${DNNL_INCLUDE_DIR})
target_link_libraries(hal_cpu_core PUBLIC ${CMAKE_DL_LIBS})

if(BUILD_TESTING)
  hal_add_test(hal_cpu_kernel_test LIBRARIES hal_cpu_core
    SOURCES test/kernel_calls.cpp test/kernel_elementwise.cpp test/kernel_matmul.cpp test/kernel_moves.cpp
            test/kernel_numbers.cpp test/kernel_reduce.cpp)
endif()
