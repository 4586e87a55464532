# Flags of every target of ours, on one interface library that all of them link privately.
add_library(sextant_flags INTERFACE)
target_compile_features(sextant_flags INTERFACE cxx_std_20)
target_compile_options(sextant_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  # Options are structs with defaults, set by name: {.length = 4, .width = 4}.
  -Wno-missing-field-initializers
  # g++ 12 sees overlapping copies in every "text" + std::string (its bug 105651, mended in 13).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # Error-free transformations and bit-for-bit results need a*b+c to stay two roundings unless we say fma.
  -ffp-contract=off)
# No lane-at-a-time x86 target: the kernels shuffle pairs, and every x86-64 processor in use has SSSE3.
target_compile_definitions(sextant_flags INTERFACE HWY_WANT_SSSE3=1 SEXTANT_VERSION="${PROJECT_VERSION}")
if(SEXTANT_SANITIZE)
  # Kernels take minutes to compile under the sanitizers: the widest vectors and the narrowest will do there. The others run
  # the same tests without sanitizers.
  target_compile_definitions(sextant_flags INTERFACE "HWY_DISABLED_TARGETS=(HWY_SSE4|HWY_AVX2)")
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

find_program(SEXTANT_CCACHE ccache)
if(SEXTANT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SEXTANT_CCACHE})
endif()
