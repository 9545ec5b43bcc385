# The package: find_package(hal) gives hal::headers, hal::loader and hal_add_backend().
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hal)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/hal/include/hal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS hal_headers hal_loader EXPORT hal-targets)
install(EXPORT hal-targets NAMESPACE hal:: DESTINATION ${package_dir})
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/hal-config.cmake CONTENT [[
include(${CMAKE_CURRENT_LIST_DIR}/hal-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/HalBackend.cmake)
]] @ONLY NEWLINE_STYLE LF)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hal-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hal-config.cmake ${PROJECT_BINARY_DIR}/hal-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/HalBackend.cmake ${PROJECT_SOURCE_DIR}/cmake/backend.map
        DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/schemas/backend-1.json ${PROJECT_SOURCE_DIR}/schemas/conformance-1.json
        DESTINATION ${CMAKE_INSTALL_DATADIR}/hal/schema)
