# Flags of every target of ours, on one interface library that all of them link privately.
add_library(sextant_flags INTERFACE)
target_compile_features(sextant_flags INTERFACE cxx_std_20)
target_compile_options(sextant_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  # Options are structs with defaults, set by name: {.length = 4, .width = 4}.
  -Wno-missing-field-initializers
  # g++ sees overlapping and endless copies in every "text" + std::string (its bug 105651, in 12 the more so behind a precompiled
  # header; in 14 where one of two strings is chosen), and takes the part of std::sort for more than 16 numbers as reached with 12.
  # clang and the sanitizers look for true ones.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread>
  # Where a file is included by one that stands for several, g++ takes its anonymous namespace as a header's.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${SEXTANT_UNITY}>>:-Wno-subobject-linkage>
  # Error-free transformations and bit-for-bit results need a*b+c to stay two roundings unless we say fma.
  -ffp-contract=off)
# No lane-at-a-time x86 target: the kernels shuffle pairs, and every x86-64 processor in use has SSSE3.
target_compile_definitions(sextant_flags INTERFACE HWY_WANT_SSSE3=1 SEXTANT_VERSION="${PROJECT_VERSION}")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  # Tiles are arrays of vectors, and vectors of unknown length (SVE) can be in none: clang refuses them, g++ 12 ends in an
  # internal error. NEON is what is left, also with -mcpu=native.
  target_compile_definitions(sextant_flags INTERFACE "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(sextant_flags INTERFACE -Wno-psabi)  # notes about compilers of before 2020
  endif()
endif()
if(SEXTANT_ONE_TARGET)
  # Kernels are compiled once per instruction set; while one works on them, one is enough. AVX2 is the one that every x86-64
  # server in use has, and this is the one place with an -march: nothing built so is shipped.
  target_compile_definitions(sextant_flags INTERFACE HWY_COMPILE_ONLY_STATIC)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(sextant_flags INTERFACE -march=haswell -maes)  # Highway's AVX2 has AES, g++'s Haswell has not
  endif()
endif()
if(EMSCRIPTEN)
  # Exceptions are what callers get for a mistake; without the option none can be caught. Sizes are checked where memory is asked
  # for, so a 64-bit size in a 32-bit stride is no narrowing.
  add_compile_options(-msimd128 -fexceptions -Wno-c++11-narrowing
    -include ${PROJECT_SOURCE_DIR}/web/standard_library/cxx20.h)
  add_link_options(-fexceptions)
  target_compile_options(sextant_flags INTERFACE -Wno-shorten-64-to-32 -Wno-dollar-in-identifier-extension)
  target_compile_definitions(sextant_flags INTERFACE HWY_COMPILE_ONLY_STATIC)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
if(SEXTANT_WERROR)
  target_compile_options(sextant_flags INTERFACE -Werror)
endif()

if(SEXTANT_SANITIZE)
  add_compile_options(-fsanitize=${SEXTANT_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SEXTANT_SANITIZE})
  if(SEXTANT_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# A compiler cache serves other clones and build folders only if it takes paths inside the project as relative ones and the
# precompiled header as the text that it was made from.
find_program(SEXTANT_CCACHE ccache)
if(SEXTANT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)  # the time in it would be another one in every clone
    target_compile_options(sextant_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_ctime,include_file_mtime ${SEXTANT_CCACHE})
endif()
