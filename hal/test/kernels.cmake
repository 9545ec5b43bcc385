# REGISTER_KERNEL from C and C++ in one image.
hal_add_test(hal_register_test LIBRARIES hal::headers
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/register.cpp ${CMAKE_CURRENT_LIST_DIR}/register_c.c)
