# systemd's units: for users' managers (user) and the system's (system). They name the installed pvmd3 with its full path,
# which is known only then; systemd looks into lib/systemd below /usr and /usr/local.
file(GLOB units CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/systemd/*/*.in)
file(RELATIVE_PATH to_doc /prefix /prefix/${CMAKE_INSTALL_DOCDIR}/doc)
foreach(unit ${units})
  file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR}/systemd ${unit})
  string(REGEX REPLACE "[.]in$" "" name ${name})
  cmake_path(GET name PARENT_PATH manager)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/systemd/${name})
  install(CODE "set(DPVM_BIN \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
set(DPVM_DOC \"\${CMAKE_INSTALL_PREFIX}/${to_doc}\")
configure_file(\"${unit}\" \"${made}\" @ONLY)" COMPONENT bin)
  install(FILES ${made} DESTINATION lib/systemd/${manager})
endforeach()
