# How our own targets are compiled. Nothing here reaches a user of the package.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# The build tree has the layout of the install tree, so that one relative library_path is right in both.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})

set(HAL_SANITIZE "" CACHE STRING "sanitizers for every target: address,undefined or thread")
if(HAL_SANITIZE)
  add_compile_options(-fsanitize=${HAL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(HAL_SANITIZE MATCHES undefined)
    # This check opens a pipe to look at memory: a process that has no descriptor left would be accused.
    add_compile_options(-fno-sanitize=vptr)
  endif()
  add_link_options(-fsanitize=${HAL_SANITIZE})
  # The checker starts itself for each case, and would relocate three million pointers to descriptions of its globals.
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

find_package(Threads REQUIRED)

# Warnings of every target of ours; link it PRIVATE. Absent designated fields are zero on purpose.
add_library(hal_build INTERFACE)
target_compile_options(hal_build INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                           -Wno-missing-field-initializers -Werror)
# Once a sanitizer has split the code, gcc sees uninitialised values in libstdc++ that are none, and takes operators new and
# delete of a test's own for a pair that does not match.
if(HAL_SANITIZE)
  target_compile_options(hal_build INTERFACE -Wno-maybe-uninitialized
                                             $<$<COMPILE_LANGUAGE:CXX>:-Wno-mismatched-new-delete>)
endif()
# glibc's and libstdc++'s inline checks under -fsanitize=thread: gcc does not know std::atomic_thread_fence there.
if(HAL_SANITIZE MATCHES thread)
  target_compile_options(hal_build INTERFACE -Wno-tsan)
endif()
target_compile_options(hal_build INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)

# A Catch2 program made of the given sources, run as one test.
# hal_add_test(<target> SOURCES <file>... [LIBRARIES <target>...] [LABELS <label>...] [TIMEOUT <seconds>])
find_package(Catch2 2 REQUIRED)
add_library(hal_catch_main STATIC ${CMAKE_CURRENT_LIST_DIR}/catch_main.cpp)
target_link_libraries(hal_catch_main PUBLIC Catch2::Catch2)
function(hal_add_test target)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE hal_build hal_catch_main ${ARG_LIBRARIES})
  add_test(NAME ${target} COMMAND ${target})
  set_tests_properties(${target} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
