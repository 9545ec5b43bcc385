# Tests of the kernel registry; included by the folder's list.
hal_add_test(loader_registry_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/registry.cpp ${CMAKE_CURRENT_LIST_DIR}/registry_bad.cpp
          ${CMAKE_CURRENT_LIST_DIR}/registry_threads.cpp
  LIBRARIES hal_loader_core)
