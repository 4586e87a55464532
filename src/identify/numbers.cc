// Rounding to the types whose unit roundoffs are known, and to few digits.
#include "identify/numbers.h"

#include <algorithm>
#include <cmath>

#include "core/threads/interruption.h"
#include "sextant/core/dtype.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant::identify {

void check_unit_roundoff(std::string_view where, double unit_roundoff) {
  if (unit_roundoff > 0 && unit_roundoff <= 0x1p-6) return;
  throw Error(where, "must be above 0 and at most 2^-6 (float64 has 2^-53, bfloat16 2^-8), got " +
                         shortest(unit_roundoff));
}

double rounded_to(double unit_roundoff, double value) {
  if (unit_roundoff <= 0x1p-53) return value;
  if (unit_roundoff <= 0x1p-24) return static_cast<float>(value);
  if (unit_roundoff <= 0x1p-11) return static_cast<double>(float16(value));
  return static_cast<double>(bfloat16(value));
}

double smallest_normal(double unit_roundoff) {
  if (unit_roundoff <= 0x1p-53) return 0x1p-1022;
  return unit_roundoff > 0x1p-24 && unit_roundoff <= 0x1p-11 ? 0x1p-14 : 0x1p-126;
}

const ShortType* short_type_of(std::span<const double> values, double unit_roundoff) {
  for (const ShortType& type : kShortTypes) {
    if (type.unit_roundoff <= unit_roundoff) continue;
    const auto is_of_it = [&](double x) { return rounded_to(type.unit_roundoff, x) == x; };
    bool all = true;
    in_parts(std::ssize(values), [&](std::int64_t begin, std::int64_t end) {
      all = all && std::all_of(values.begin() + begin, values.begin() + end, is_of_it);
    });
    if (all) return &type;
  }
  return nullptr;
}

Round roundest_base(double estimate, double tolerance) {
  for (const double base : kWellKnownBases) {
    if (std::abs(std::log(base / estimate)) <= tolerance) return {base, base == 10000 ? 0.0 : 1.0};
  }
  return roundest_number(estimate, tolerance);
}

Round roundest_number(double estimate, double tolerance) {
  for (int digits = 1; digits < 17; ++digits) {
    const double rounded = parse_double(significant(estimate, digits), "base");
    if (std::abs(std::log(rounded / estimate)) <= tolerance) return {rounded, 1.0 + digits};
  }
  return {estimate, 18};
}

}  // namespace sextant::identify
