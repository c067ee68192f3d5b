# systemd's units: for users' managers (user) and the system's (system). They name the installed pvmd3 with its full path,
# which is known only then; systemd looks into lib/systemd below /usr and /usr/local.
file(GLOB units CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/systemd/*/*.in)
file(RELATIVE_PATH to_doc /prefix /prefix/${CMAKE_INSTALL_DOCDIR}/doc)
foreach(unit ${units})
  file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR}/systemd ${unit})
  string(REGEX REPLACE "[.]in$" "" name ${name})
  # The unit goes straight to its place: installations of one build folder into several places may run at once.
  install(CODE "cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX OUTPUT_VARIABLE prefix) # systemd takes no other
set(DPVM_BIN \"\${prefix}/${CMAKE_INSTALL_BINDIR}\")
set(DPVM_DOC \"\${prefix}/${to_doc}\")
set(installed \"\${prefix}/lib/systemd/${name}\")
message(STATUS \"Installing: \$ENV{DESTDIR}\${installed}\")
configure_file(\"${unit}\" \"\$ENV{DESTDIR}\${installed}\" @ONLY)
list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${installed}\")" COMPONENT bin)
endforeach()
