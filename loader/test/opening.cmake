# Opening: plug-ins made to fail, and the tests that open them. Nothing here lies where the loader searches by itself.
set(plugins ${CMAKE_CURRENT_BINARY_DIR}/plugins)
function(loader_test_plugin name)
  add_library(${name} SHARED ${ARGN})
  target_link_libraries(${name} PRIVATE hal_build hal::headers)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:C>:-fvisibility=default>)
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${plugins})
endfunction()

foreach(id healthy faulty)
  loader_test_plugin(loader_test_${id} plugin/plugin.cpp)
  target_compile_definitions(loader_test_${id} PRIVATE PLUGIN_ID="test.${id}")
endforeach()
foreach(name no_entry data_entry undefined_symbol needs_other)
  loader_test_plugin(loader_test_${name} plugin/${name}.c)
endforeach()
target_link_libraries(loader_test_needs_other PRIVATE -Wl,--no-as-needed loader_test_healthy)
# Its dependency exists at link time only.
loader_test_plugin(loader_test_gone plugin/no_entry.c)
set_target_properties(loader_test_gone PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${plugins}/gone SUFFIX .so.5)
loader_test_plugin(loader_test_missing_dependency plugin/no_entry.c)
target_link_libraries(loader_test_missing_dependency PRIVATE -Wl,--no-as-needed loader_test_gone)
set_target_properties(loader_test_missing_dependency PROPERTIES SKIP_BUILD_RPATH ON)

hal_add_test(loader_opening_test
  SOURCES opening_api.cpp opening_devices.cpp opening_fork.cpp opening_libraries.cpp opening_life.cpp opening_memory.cpp
          opening_plugins.cpp opening_serialize.cpp opening_tables.cpp opening_threads.cpp
  LIBRARIES hal::loader fmt::fmt-header-only)
target_compile_definitions(loader_opening_test PRIVATE HAL_TEST_PLUGINS="${plugins}")
target_include_directories(loader_opening_test PRIVATE ${PROJECT_SOURCE_DIR}/loader/src)
set_tests_properties(loader_opening_test PROPERTIES TIMEOUT 300)
add_dependencies(loader_opening_test loader_test_healthy loader_test_faulty loader_test_no_entry loader_test_data_entry
                 loader_test_undefined_symbol loader_test_needs_other loader_test_missing_dependency)

hal_add_test(loader_link_error_test SOURCES opening_link_errors.cpp LIBRARIES hal_loader_core)

# A sanitizer adds symbols of its own.
if(NOT HAL_SANITIZE)
  add_test(NAME loader_exports COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/exports.sh ${CMAKE_NM} $<TARGET_FILE:hal_loader>
                                       ${PROJECT_SOURCE_DIR}/hal/include)
endif()
add_test(NAME loader_forbidden_words COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/forbidden_words.sh
                                             ${PROJECT_SOURCE_DIR}/loader/src)
