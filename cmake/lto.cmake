# Link-time optimisation of libpvm3, in which each message passes through small functions of many files; pvmd3 gains
# nothing from it. For gcc, and only for builds that are meant to be fast. The objects are compiled in both ways, because
# tests, the daemon and static libraries link them without it.
option(DPVM_LTO "Optimise libpvm3 as a whole when it is linked (gcc)" ON)
set(lto OFF)
if(DPVM_LTO AND CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_BUILD_TYPE MATCHES "^Rel" AND NOT DPVM_SANITIZE AND NOT DPVM_COVERAGE
   AND NOT DPVM_ESSENTIAL)
  set(lto ON)
  target_compile_options(dpvm_options INTERFACE $<$<BOOL:$<TARGET_PROPERTY:DPVM_LTO>>:-flto=auto;-ffat-lto-objects>)
  target_link_options(dpvm_options INTERFACE $<IF:$<BOOL:$<TARGET_PROPERTY:DPVM_LTO>>,-flto=auto,-fno-lto>)
endif()

# dpvm_lto(TARGET...): compiles, or links, these with it.
function(dpvm_lto)
  set_property(TARGET ${ARGN} PROPERTY DPVM_LTO ${lto})
endfunction()
