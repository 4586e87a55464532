// The C++ types of all element types, for code that is written once for each.
#pragma once

#include <cstdint>

#include "sextant/core/dtype.h"

// clang-format off
#define SEXTANT_FOR_EACH_DTYPE(X)                                              \
  X(bool)                                                                      \
  X(std::int8_t) X(std::int16_t) X(std::int32_t) X(std::int64_t)               \
  X(std::uint8_t) X(std::uint16_t) X(std::uint32_t) X(std::uint64_t)           \
  X(::sextant::float16) X(::sextant::bfloat16) X(float) X(double)
// Those that positions and attention are computed in.
#define SEXTANT_FOR_EACH_FLOATING(X) X(float) X(double) X(::sextant::float16) X(::sextant::bfloat16)
// clang-format on
