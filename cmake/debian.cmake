# With -DDPVM_DEBIAN=ON: the layout of Debian's own PVM packages, which dpvm's replace, and the compiler options that
# packages have. packages.cmake then says what goes into which package.
set(CMAKE_INSTALL_PREFIX /usr CACHE PATH "Where Debian's packages install" FORCE)
set(CMAKE_BUILD_TYPE RelWithDebInfo)
set(CMAKE_SKIP_INSTALL_RPATH ON)
add_compile_options(-Wdate-time -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
