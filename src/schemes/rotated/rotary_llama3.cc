// Llama 3.1's scaling: long wavelengths are divided, short ones kept, the band between blended.
#include "sextant/schemes/rotated/rotary_llama3.h"

#include <numbers>

#include "schemes/rotated/rotary_scheme.h"

namespace sextant {
namespace {

// In the order of operations of apply_scaling and of Hugging Face, where number / tensor is the
// number times the tensor's reciprocal.
float scaled_as_frameworks(float theta, const Llama3Scaling& scaling) {
  const auto length = static_cast<double>(scaling.original_length);
  const auto factor = static_cast<float>(scaling.factor);
  const float wavelength = (1 / theta) * static_cast<float>(2 * std::numbers::pi);
  const bool is_long = wavelength > static_cast<float>(length / scaling.low_freq_factor);
  const bool is_short = wavelength < static_cast<float>(length / scaling.high_freq_factor);
  if (is_long) return theta / factor;
  if (is_short || scaling.low_freq_factor == scaling.high_freq_factor) return theta;
  const auto low = static_cast<float>(scaling.low_freq_factor);
  const auto range = static_cast<float>(scaling.high_freq_factor - scaling.low_freq_factor);
  const float smooth = ((1 / wavelength) * static_cast<float>(length) - low) / range;
  return (1 - smooth) * theta / factor + smooth * theta;
}

}  // namespace

template <>
inline constexpr auto kFields<Llama3Scaling> = std::tuple{
    field(&Llama3Scaling::factor, "factor", kAboveZero, "divisor of low frequencies"),
    field(&Llama3Scaling::low_freq_factor, "low_freq_factor", kAboveZero,
          "pairs with fewer than low_freq_factor turns over original_length are divided by factor"),
    field(&Llama3Scaling::high_freq_factor, "high_freq_factor", kAboveZero,
          "pairs with more than high_freq_factor turns over original_length are unchanged")
        .with_condition("at least low_freq_factor"),
    field(&Llama3Scaling::original_length, "original_length", kLengths, "trained length")};

void scale(Rotation& rotation, const Llama3Scaling& scaling, std::int64_t) {
  check_fields(rotation.scheme, scaling);
  if (scaling.high_freq_factor < scaling.low_freq_factor) {
    throw Error(rotation.where("high_freq_factor"),
                "must be at least low_freq_factor, " + shortest(scaling.low_freq_factor) +
                    ", got " + shortest(scaling.high_freq_factor));
  }
  const WideFloat inverse = reciprocal(WideFloat(scaling.factor));
  const WideFloat low(scaling.low_freq_factor);
  const WideFloat high(scaling.high_freq_factor);
  const WideFloat turns_per_radian = WideFloat(static_cast<double>(scaling.original_length)) *
                                     reciprocal(wide_pi().times_power_of_two(1));
  for (WideFloat& theta : rotation.frequencies) {
    const WideFloat above_low = theta * turns_per_radian - low;
    if (above_low.is_negative()) {
      theta = theta * inverse;
    } else if ((theta * turns_per_radian - high).is_negative()) {
      const WideFloat u = above_low * reciprocal(high - low);
      theta = (WideFloat(1.0) - u) * theta * inverse + u * theta;
    }
  }
  for (float& theta : rotation.framework) theta = scaled_as_frameworks(theta, scaling);
}

constinit const Scheme descriptors::kRotaryLlama3 =
    rotary_scheme<kRotaryLlama3, Llama3Scaling, 500000>(
        Llama3Scaling::name, "rotary Llama 3",
        "Rotary with slow pairs slowed further by a factor and fast pairs kept.",
        "Llama 3, 2407.21783");

}  // namespace sextant
