# With -DDPVM_DEBIAN=ON: the layout of Debian's PVM packages, which dpvm's packages replace, and Debian's compiler
# options for packages. packages.cmake then says which package contains what.
set(CMAKE_INSTALL_PREFIX /usr CACHE PATH "Where Debian's packages install" FORCE)
set(CMAKE_BUILD_TYPE RelWithDebInfo)
set(CMAKE_SKIP_INSTALL_RPATH ON)
set(DPVM_REPRODUCIBLE ON)
