# With -DDPVM_DEBIAN=ON: the layout of Debian's PVM packages, which dpvm's packages replace, and Debian's compiler
# options for packages. packages.cmake then says which package contains what.
set(CMAKE_INSTALL_PREFIX /usr CACHE PATH "Where Debian's packages install" FORCE)
set(CMAKE_BUILD_TYPE RelWithDebInfo)
set(CMAKE_SKIP_INSTALL_RPATH ON)
add_compile_options(-Wdate-time -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
