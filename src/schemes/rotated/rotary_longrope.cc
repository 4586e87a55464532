// LongRoPE: a divisor for every pair, by the length of the text.
#include "sextant/schemes/rotated/rotary_longrope.h"

#include <cmath>

#include "schemes/rotated/frequencies.h"
#include "schemes/rotated/rotary_scheme.h"

namespace sextant {
namespace {

void check_count(const Rotation& rotation, std::string_view name,
                 const std::vector<double>& divisors) {
  if (divisors.empty() || divisors.size() == static_cast<std::size_t>(rotation.pairs())) return;
  throw Error(rotation.where(name), "must be " + std::to_string(rotation.pairs()) +
                                        " numbers, one for each pair, got " +
                                        std::to_string(divisors.size()));
}

double amplitude_of(const LongropeScaling& scaling) {
  if (scaling.attention_factor) return *scaling.attention_factor;
  const auto original = static_cast<double>(scaling.original_length);
  const double factor = scaling.factor.value_or(
      static_cast<double>(scaling.max_length.value_or(scaling.original_length)) / original);
  return factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original));
}

}  // namespace

template <>
inline constexpr auto kFields<LongropeScaling> =
    std::tuple{field(&LongropeScaling::short_factor, "short_factor", ListRange{kAboveZero},
                     "divisor of each pair, such as 1,1.05,...; auto: all 1"),
               field(&LongropeScaling::long_factor, "long_factor", ListRange{kAboveZero},
                     "the same for texts longer than original_length"),
               field(&LongropeScaling::original_length, "original_length",
                     IntegerRange{2, kLengths.max}, "trained length"),
               field(&LongropeScaling::max_length, "max_length", kLengths,
                     "length of the extended model; auto: from factor"),
               field(&LongropeScaling::factor, "factor", kAboveZero,
                     "extension factor; auto: max_length / original_length, or 1"),
               field(&LongropeScaling::attention_factor, "attention_factor", kAboveZero,
                     "factor of the tables; auto: sqrt(1 + ln(factor) / ln(original_length))"),
               field(&LongropeScaling::length, "length", IntegerRange{0, kLengths.max},
                     "length of the text; auto: the largest position + 1")};

void scale(Rotation& rotation, const LongropeScaling& scaling, std::int64_t length) {
  check_fields(rotation.scheme, scaling);
  check_count(rotation, "short_factor", scaling.short_factor);
  check_count(rotation, "long_factor", scaling.long_factor);
  const std::vector<float> powers = framework_powers(rotation.base, rotation.dim, rotation.pairs());
  const std::vector<double>& divisors = scaling.length.value_or(length) > scaling.original_length
                                            ? scaling.long_factor
                                            : scaling.short_factor;
  for (std::size_t k = 0; k < divisors.size(); ++k) {
    rotation.frequencies[k] = rotation.frequencies[k] * reciprocal(WideFloat(divisors[k]));
    rotation.framework[k] = 1 / (static_cast<float>(divisors[k]) * powers[k]);
  }
  rotation.amplitude = amplitude_of(scaling);
}

std::int64_t length_class(const LongropeScaling& scaling, std::int64_t length) {
  return !scaling.length && length > scaling.original_length ? 1 : 0;
}

constinit const Scheme descriptors::kRotaryLongrope =
    rotary_scheme<kRotaryLongrope, LongropeScaling>(
        LongropeScaling::name, "LongRoPE",
        "Rotary with a divisor for every pair, found by search; another list for long texts.",
        "Ding et al. 2024, 2402.13753");

}  // namespace sextant
