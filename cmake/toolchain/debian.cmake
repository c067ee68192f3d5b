# Cross builds with Debian's compilers and a sysroot of Debian's foreign packages; tests/mixed/prepare makes both.
#
#   cmake --toolchain cmake/toolchain/debian.cmake -DDPVM_CROSS=s390x-linux-gnu \
#         [-DDPVM_CROSS_TOOLS=where the compiler's packages were unpacked] [-DDPVM_CROSS_ROOT=sysroot] -DDPVM_ESSENTIAL=ON
#
# Without tools and root, the build uses the installed compiler and libraries. With a root, programs find loader and
# libraries there on their own, so that they run on the build machine: natively, or under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${DPVM_CROSS}")
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES DPVM_CROSS DPVM_CROSS_TOOLS DPVM_CROSS_ROOT)

find_program(compiler ${DPVM_CROSS}-gcc PATHS ${DPVM_CROSS_TOOLS}/usr/bin REQUIRED NO_CACHE)
set(CMAKE_C_COMPILER ${compiler})
set(CMAKE_LIBRARY_ARCHITECTURE ${DPVM_CROSS})
if(DPVM_CROSS STREQUAL i686-linux-gnu)
  set(CMAKE_LIBRARY_ARCHITECTURE i386-linux-gnu)
endif()

if(DPVM_CROSS_ROOT)
  set(loader_i686-linux-gnu /lib/ld-linux.so.2)
  set(loader_s390x-linux-gnu /lib/ld64.so.1)
  set(loader_aarch64-linux-gnu /lib/ld-linux-aarch64.so.1)
  set(libraries ${DPVM_CROSS_ROOT}/lib/${CMAKE_LIBRARY_ARCHITECTURE})
  string(APPEND libraries :${DPVM_CROSS_ROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
  set(CMAKE_SYSROOT ${DPVM_CROSS_ROOT})
  set(CMAKE_EXE_LINKER_FLAGS_INIT
      "-Wl,--dynamic-linker=${DPVM_CROSS_ROOT}${loader_${DPVM_CROSS}} -Wl,--disable-new-dtags,-rpath,${libraries}")
  set(CMAKE_FIND_ROOT_PATH ${DPVM_CROSS_ROOT})
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
  set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${DPVM_CROSS_ROOT})
  set(ENV{PKG_CONFIG_LIBDIR} ${DPVM_CROSS_ROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig)
endif()
