# Table 5: the operators. They are sources of an object library: out of an archive the linker would drop them, because
# nothing names them. Each .cl file becomes a constant of its name in sources.hpp.
file(GLOB cl_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/kernels/*.cl ${CMAKE_CURRENT_SOURCE_DIR}/kernels/common/*.cl)
set(constants "")
foreach(file IN LISTS cl_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  cmake_path(GET file STEM name)
  file(READ ${file} text)
  string(APPEND constants "inline constexpr std::string_view ${name} = R\"CL(\n${text})CL\";\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/sources.hpp @ONLY CONTENT
"// Generated from the .cl files.
#pragma once
#include <string_view>
namespace hal::opencl::cl {
@constants@}  // namespace hal::opencl::cl
")
target_sources(hal_opencl_core PRIVATE
  src/kernel.cpp src/program_cache.cpp src/programs.cpp src/user_kernels.cpp kernels/common/launch.cpp
  kernels/elementwise.cpp kernels/matmul.cpp kernels/moves.cpp kernels/sums.cpp kernels/user.cpp)
target_include_directories(hal_opencl_core PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
find_package(nlohmann_json REQUIRED)
target_link_libraries(hal_opencl_core PRIVATE nlohmann_json::nlohmann_json)
