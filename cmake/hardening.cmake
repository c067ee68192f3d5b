# What makes a memory error hard to use, for every program and library of ours (lint.hardening reads the results).
# Static libraries have it too: programs that are linked with them need nothing but the C library for it.
include(CheckPIESupported)
check_pie_supported()

target_compile_options(dpvm_options INTERFACE -fstack-protector-strong)
target_link_options(dpvm_options INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)

# The sanitizers intercept memcpy() and its like, but not the checking __memcpy_chk(): fortified they would see less.
if(NOT DPVM_SANITIZE AND NOT DPVM_FUZZ)
  set(DPVM_FORTIFY ON)
  target_compile_options(dpvm_options INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()

# clang has the first for x86 and s390x only. The linker drops a mark that one object lacks: glibc's start files may lack
# both. They leave return addresses alone, so that SHSTK is true of them, but need not have the landing pads of IBT.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|i.86)$")
  target_compile_options(dpvm_options INTERFACE -fstack-clash-protection -fcf-protection=full)
  target_link_options(dpvm_options INTERFACE -Wl,-z,shstk)
elseif(CMAKE_C_COMPILER_ID STREQUAL GNU)
  target_compile_options(dpvm_options INTERFACE -fstack-clash-protection)
endif()
