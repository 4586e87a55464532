// What tests of identify share: the types that tables are stored in.
#pragma once

#include "sextant/core/dtype.h"

namespace sextant {

struct Type {
  const char* name;
  double unit_roundoff;
  double (*round)(double);
};
inline constexpr Type kFloat64{"float64", 0x1p-53, [](double x) { return x; }};
inline constexpr Type kFloat32{"float32", 0x1p-24,
                               [](double x) { return static_cast<double>(static_cast<float>(x)); }};
inline constexpr Type kFloat16{"float16", 0x1p-11,
                               [](double x) { return static_cast<double>(float16(x)); }};
inline constexpr Type kBfloat16{"bfloat16", 0x1p-8,
                                [](double x) { return static_cast<double>(bfloat16(x)); }};

}  // namespace sextant
