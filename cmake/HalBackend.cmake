# hal_add_backend(<target>
#   ID <id>                     backend.id, the name in the descriptor
#   SOURCES <file>...
#   [NAME <text>] [VENDOR <text>] [VERSION <text>]   for the manifest
#   [KINDS cpu|gpu|npu|fpga|dsp|other...] [SOFTWARE]
#   [OPTIONS <key>=<value>...]  options of the manifest
#   [LIBRARIES <target>...])
# Makes the plug-in lib<target>.so and its manifest 50-<id>.json, in the build tree as in the install tree:
# <libdir>/hal/ and <datadir>/hal/backends.d/; both are installed unless HAL_BACKEND_NO_INSTALL is set. Used by this project and by vendors through find_package(hal).
set(HAL_BACKEND_MAP ${CMAKE_CURRENT_LIST_DIR}/backend.map)

function(hal_add_backend target)
  cmake_parse_arguments(ARG "SOFTWARE" "ID;NAME;VENDOR;VERSION" "SOURCES;KINDS;OPTIONS;LIBRARIES" ${ARGN})
  foreach(required ID SOURCES)
    if(NOT ARG_${required})
      message(FATAL_ERROR "hal_add_backend(${target}): ${required} is missing")
    endif()
  endforeach()
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "hal_add_backend(${target}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  include(GNUInstallDirs)

  add_library(${target} MODULE ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE hal::headers ${ARG_LIBRARIES})
  set_target_properties(${target} PROPERTIES
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/hal)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_link_options(${target} PRIVATE -Wl,-z,nodelete -Wl,-Bsymbolic -Wl,--exclude-libs,ALL
                      -Wl,--version-script=${HAL_BACKEND_MAP})
  if(NOT HAL_SANITIZE)  # sanitized builds leave the run-time's symbols to the executable
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${HAL_BACKEND_MAP})

  hal_write_manifest(${target})
  if(NOT HAL_BACKEND_NO_INSTALL)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/hal)
    install(FILES ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_DATADIR}/hal/backends.d/50-${ARG_ID}.json
            DESTINATION ${CMAKE_INSTALL_DATADIR}/hal/backends.d)
  endif()
endfunction()

# Of the caller's ARG_* variables.
macro(hal_write_manifest target)
  set(manifest_dir ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_DATADIR}/hal/backends.d)
  file(RELATIVE_PATH library_dir ${manifest_dir} ${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/hal)
  set(json "{}")
  string(JSON json SET "${json}" schema_version "\"1.0\"")
  string(JSON json SET "${json}" backend "{}")
  string(JSON json SET "${json}" backend id "\"${ARG_ID}\"")
  foreach(key NAME VENDOR VERSION)
    if(ARG_${key})
      string(TOLOWER ${key} lower)
      string(JSON json SET "${json}" backend ${lower} "\"${ARG_${key}}\"")
    endif()
  endforeach()
  string(JSON json SET "${json}" backend library_path
         "\"${library_dir}/${CMAKE_SHARED_MODULE_PREFIX}${target}${CMAKE_SHARED_MODULE_SUFFIX}\"")
  string(JSON json SET "${json}" backend abi "{\"min\": \"1.0\", \"max\": \"1.0\"}")
  if(ARG_KINDS)
    list(JOIN ARG_KINDS "\", \"" kinds)
    string(JSON json SET "${json}" backend kinds "[\"${kinds}\"]")
  endif()
  if(ARG_SOFTWARE)
    string(JSON json SET "${json}" backend software true)
  endif()
  if(ARG_OPTIONS)
    string(JSON json SET "${json}" backend options "{}")
    foreach(option ${ARG_OPTIONS})
      string(REGEX MATCH "^([^=]+)=(.*)$" matched "${option}")
      string(JSON json SET "${json}" backend options "${CMAKE_MATCH_1}" "\"${CMAKE_MATCH_2}\"")
    endforeach()
  endif()
  file(CONFIGURE OUTPUT ${manifest_dir}/50-${ARG_ID}.json CONTENT "${json}\n" @ONLY)
endmacro()
