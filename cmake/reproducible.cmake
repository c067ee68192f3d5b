# With -DDPVM_REPRODUCIBLE=ON two builds of the same sources with the same compiler make the same files, wherever the
# folders of sources and build are (package.reproducible). Off by default, because debuggers then do not find the sources
# without help. Times come from SOURCE_DATE_EPOCH where anything has one.
option(DPVM_REPRODUCIBLE "Leave the names of this machine's folders out of all files" OFF)
if(DPVM_REPRODUCIBLE)
  # The last map that fits wins, and the build folder often lies in that of the sources. With -flto and DWARF 5, gcc 12
  # leaves the folder's name to the assembler, which has no map. The linker compiles, too, so these are not options of
  # compiling alone.
  string(APPEND CMAKE_C_FLAGS " -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build -gdwarf-4")
  add_compile_options(-Wdate-time)
  # gcc names the sections of -flto at random.
  string(REPLACE "-o <OBJECT>" "-frandom-seed=<OBJECT> -o <OBJECT>" CMAKE_C_COMPILE_OBJECT "${CMAKE_C_COMPILE_OBJECT}")
endif()
