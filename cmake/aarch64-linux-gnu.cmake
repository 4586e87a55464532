# For builds on x86-64 Debian of programs for 64-bit Arm, which qemu runs. SEXTANT_ARM_COMPILER=clang++ is the other compiler. Packages:
# scripts/setup.sh arm
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SEXTANT_ARM_COMPILER)
if(SEXTANT_ARM_COMPILER)
  set(CMAKE_CXX_COMPILER ${SEXTANT_ARM_COMPILER})
  set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
else()
  set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
endif()
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
