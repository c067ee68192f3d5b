# Options that make memory errors hard to exploit, for all our programs and libraries (lint.hardening checks the
# results). Static libraries have them too: programs that link them need only the C library for that.
include(CheckPIESupported)
check_pie_supported()

target_compile_options(dpvm_options INTERFACE -fstack-protector-strong)
target_link_options(dpvm_options INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)

# The sanitizers intercept memcpy() and the like, but not the checked __memcpy_chk(): with _FORTIFY_SOURCE they see
# less.
if(NOT DPVM_SANITIZE AND NOT DPVM_FUZZ)
  set(DPVM_FORTIFY ON)
  target_compile_options(dpvm_options INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
endif()

# clang has stack clash protection for x86 and s390x only. The linker drops a CET mark that any object lacks, and
# glibc's start files may lack both marks. We force SHSTK, because those files do not modify return addresses, but not
# IBT, because they may have no landing pads.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|i.86)$")
  target_compile_options(dpvm_options INTERFACE -fstack-clash-protection -fcf-protection=full)
  target_link_options(dpvm_options INTERFACE -Wl,-z,shstk)
elseif(CMAKE_C_COMPILER_ID STREQUAL GNU)
  target_compile_options(dpvm_options INTERFACE -fstack-clash-protection)
endif()
