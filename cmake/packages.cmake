# Debian packages: configure with the preset `package`, build, then `cpack -G DEB` in that build folder.
#
#   libdpvm3       the shared libraries                        replaces libpvm3
#   dpvm           daemon, console, group server, tools        replaces pvm
#   dpvm-dev       headers, static libraries, aimk, man 3      replaces pvm-dev
#   dpvm-doc       documentation and example programs
#   python3-dpvm   the Python package
#   dpvm-rdma      the transport over libibverbs, if that was found at build time
#   dpvm-ofi       the transport over libfabric, likewise
#
# Each provides what it replaces, with a version, so that packages that depend on Debian's libpvm3 stay installable.
set(replaced_version 3.4.6-5)
set(revision 1)
set(DPVM_CONTACT "dpvm maintainers <maintainers@example.org>" CACHE STRING "Whom the packages name as their maintainer")

# ---- what Debian requires of each package: copyright, changelog, compressed man pages ----

set(made ${CMAKE_CURRENT_BINARY_DIR}/debian)
string(TIMESTAMP DPVM_DATE "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(debian/changelog.in ${made}/changelog.Debian @ONLY)
execute_process(COMMAND gzip -9nf ${made}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
set(name_lib libdpvm3)
set(name_bin dpvm)
set(name_dev dpvm-dev)
set(name_doc dpvm-doc)
set(name_python python3-dpvm)
set(name_rdma dpvm-rdma)
set(name_ofi dpvm-ofi)
set(components lib bin dev doc python)
foreach(module rdma ofi)
  if(TARGET dpvm_${module})
    list(APPEND components ${module})
  endif()
endforeach()
foreach(component ${components})
  install(FILES ${made}/changelog.Debian.gz debian/copyright DESTINATION share/doc/${name_${component}}
          COMPONENT ${component})
  install(CODE "file(GLOB_RECURSE pages \$ENV{DESTDIR}/usr/share/man/*)
if(pages)
  execute_process(COMMAND gzip -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()" COMPONENT ${component})
endforeach()
install(FILES debian/overrides/libdpvm3 DESTINATION share/lintian/overrides COMPONENT lib)
install(FILES debian/overrides/dpvm DESTINATION share/lintian/overrides COMPONENT bin)
foreach(module rdma ofi)
  if(TARGET dpvm_${module})
    install(FILES debian/overrides/dpvm-${module} DESTINATION share/lintian/overrides COMPONENT ${module})
  endif()
endforeach()

# ---- the packages ----

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dpvm)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${DPVM_CONTACT})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Parallel Virtual Machine for today's machines")
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${revision})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}) # else it finds Debian's libpvm3

# dpvm_package(COMPONENT SECTION DEPENDS REPLACED CONTENTS)
macro(dpvm_package component section depends replaced contents)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name_${component}})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "dpvm is the Parallel Virtual Machine 3.4, rewritten from scratch: programs
on any number of hosts send messages to each other. It runs programs that were
compiled for Debian's PVM, and replaces that.

This package contains the ${contents}.")
  if(NOT "${replaced}" STREQUAL "")
    set(CPACK_DEBIAN_${upper}_PACKAGE_PROVIDES "${replaced} (= ${replaced_version})")
    set(CPACK_DEBIAN_${upper}_PACKAGE_CONFLICTS ${replaced})
    set(CPACK_DEBIAN_${upper}_PACKAGE_REPLACES ${replaced})
  endif()
endmacro()

set(own_version "(= ${PROJECT_VERSION}-${revision})")
dpvm_package(lib libs "" libpvm3 "shared libraries")
dpvm_package(bin net "libdpvm3 ${own_version}" pvm "daemon, the console and the group server")
dpvm_package(dev libdevel "libdpvm3 ${own_version}, dpvm ${own_version}, make" pvm-dev "headers and static libraries")
dpvm_package(doc doc "" "" "documentation and example programs")
dpvm_package(python python "python3:any, libdpvm3" "" "interface for Python")
dpvm_package(rdma libs "libdpvm3 ${own_version}" "" "transport over RDMA verbs")
dpvm_package(ofi libs "libdpvm3 ${own_version}" "" "transport over libfabric")
set(CPACK_DEBIAN_LIB_PACKAGE_RECOMMENDS dpvm)
set(CPACK_DEBIAN_LIB_PACKAGE_SUGGESTS "dpvm-rdma, dpvm-ofi")
set(CPACK_DEBIAN_RDMA_PACKAGE_RECOMMENDS ibverbs-providers)
set(CPACK_DEBIAN_LIB_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/debian/shlibs
    ${CMAKE_CURRENT_SOURCE_DIR}/debian/triggers)
set(CPACK_DEBIAN_BIN_PACKAGE_RECOMMENDS openssh-client)
set(CPACK_DEBIAN_BIN_PACKAGE_SUGGESTS "dpvm-doc, gdb, xterm")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS gcc)
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS gfortran)
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "dpvm, python3-numpy")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_SOURCE_DIR}/debian/python/postinst
    ${CMAKE_CURRENT_SOURCE_DIR}/debian/python/prerm)
foreach(component DOC PYTHON)
  set(CPACK_DEBIAN_${component}_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_${component}_PACKAGE_SHLIBDEPS OFF)
endforeach()
include(CPack)
