# Declares public libraries and commands; cmake/CMakeLists.txt installs all of them.

# dpvm_command(TARGET ...): commands for users.
function(dpvm_command)
  set_property(GLOBAL APPEND PROPERTY DPVM_COMMANDS ${ARGN})
endfunction()

# The build folder has the layout of the installation, so the RUNPATH is the same. If CMake had to replace it, it would
# pad it with colons in the build folder: empty elements, for which the loader searches the current directory.
function(dpvm_runpath target path)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${path}" BUILD_WITH_INSTALL_RPATH ON)
endfunction()

# Writes to `file` the names that the version script `map` exports, one per line, as objcopy expects them.
function(dpvm_write_exports map file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${map})
  file(READ ${map} text)
  string(REGEX REPLACE "#[^\n]*" "" text "${text}")
  string(REGEX REPLACE ".*global:(.*)local:.*" "\\1" text "${text}")
  string(REGEX MATCHALL "[A-Za-z_][A-Za-z0-9_*]*" names "${text}")
  list(JOIN names "\n" names)
  file(CONFIGURE OUTPUT ${file} CONTENT "${names}\n")
endfunction()

# dpvm_public_library(NAME VERSION version HEADERS folder [INSIDE target ...] [ON NAME ...])
#
# Makes NAME_shared and NAME_static from the target NAME_objects and the static libraries INSIDE, users before used. ON:
# the public libraries that it needs. Both export only the names in lib<NAME>.map. NAME_static is therefore one object
# whose other names are local: a program can link any two of our static libraries, although both contain core. Tests of
# internal functions link NAME_objects.
function(dpvm_public_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "VERSION;HEADERS" "INSIDE;ON")
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/lib${name}.map)
  string(REGEX MATCH "^[0-9]+" major ${arg_VERSION})

  add_library(${name}_shared SHARED $<TARGET_OBJECTS:${name}_objects>)
  foreach(target ${arg_INSIDE})
    target_link_libraries(${name}_shared PRIVATE $<BUILD_INTERFACE:${target}>)
  endforeach()
  set_target_properties(${name}_shared PROPERTIES VERSION ${arg_VERSION} SOVERSION ${major} LINK_DEPENDS ${map})
  target_link_options(${name}_shared PRIVATE -Wl,--version-script=${map} ${DPVM_NO_UNDEFINED})

  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  set(exports ${CMAKE_CURRENT_BINARY_DIR}/${name}.exports)
  dpvm_write_exports(${map} ${exports})
  list(TRANSFORM arg_INSIDE REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE archives)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object} $<TARGET_OBJECTS:${name}_objects> --start-group
            ${archives} --end-group
    COMMAND ${CMAKE_OBJCOPY} --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_* --strip-symbol=__gnu_lto_v1 ${object}
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbols=${exports} ${object}
    DEPENDS ${name}_objects $<TARGET_OBJECTS:${name}_objects> ${arg_INSIDE} ${archives} ${exports}
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  add_library(${name}_static STATIC ${object})
  set_target_properties(${name}_static PROPERTIES LINKER_LANGUAGE C)

  foreach(kind shared static)
    target_include_directories(${name}_${kind} PUBLIC $<BUILD_INTERFACE:${arg_HEADERS}>
                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${name}_${kind} PRIVATE $<BUILD_INTERFACE:dpvm_options>)
    foreach(needed ${arg_ON})
      target_link_libraries(${name}_${kind} PUBLIC ${needed}_${kind})
    endforeach()
    set_target_properties(${name}_${kind} PROPERTIES OUTPUT_NAME ${name})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY DPVM_LIBRARIES ${name})
endfunction()
