// Llama 3.1's scaling: long wavelengths are divided, short ones kept, the band between blended.
#include "sextant/schemes/rotated/rotary_llama3.h"

#include <cmath>
#include <numbers>

#include "schemes/rotated/rotation_generator.h"
#include "schemes/rotated/rotation_parameters.h"

namespace sextant {
namespace {

// In the order of operations of apply_scaling and of Hugging Face, where number / tensor is the
// number times the tensor's reciprocal.
float scaled_as_frameworks(float theta, const RotaryLlama3& options) {
  const auto length = static_cast<double>(options.original_length);
  const auto factor = static_cast<float>(options.factor);
  const float wavelength = (1 / theta) * static_cast<float>(2 * std::numbers::pi);
  const bool is_long = wavelength > static_cast<float>(length / options.low_freq_factor);
  const bool is_short = wavelength < static_cast<float>(length / options.high_freq_factor);
  if (is_long) return theta / factor;
  if (is_short || options.low_freq_factor == options.high_freq_factor) return theta;
  const auto low = static_cast<float>(options.low_freq_factor);
  const auto range = static_cast<float>(options.high_freq_factor - options.low_freq_factor);
  const float smooth = ((1 / wavelength) * static_cast<float>(length) - low) / range;
  return (1 - smooth) * theta / factor + smooth * theta;
}

Rotation rotation_of(const RotaryLlama3& options) {
  Rotation rotation = checked_rotation("rotary_llama3", options);
  check_positive(rotation, "factor", options.factor);
  check_positive(rotation, "low_freq_factor", options.low_freq_factor);
  check_positive(rotation, "high_freq_factor", options.high_freq_factor);
  if (options.high_freq_factor < options.low_freq_factor) {
    throw Error(rotation.where("high_freq_factor"),
                "must be at least low_freq_factor, " + shortest(options.low_freq_factor) +
                    ", got " + shortest(options.high_freq_factor));
  }
  check_at_least(rotation, "original_length", options.original_length, 1);
  set_ladder(rotation, options.base, rotation.dim);
  const WideFloat inverse = reciprocal(WideFloat(options.factor));
  const WideFloat low(options.low_freq_factor);
  const WideFloat high(options.high_freq_factor);
  const WideFloat turns_per_radian = WideFloat(static_cast<double>(options.original_length)) *
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
  for (float& theta : rotation.framework) theta = scaled_as_frameworks(theta, options);
  return rotation;
}

}  // namespace

SEXTANT_ROTATION(rotary_llama3, RotaryLlama3, rotation_of)

RotationFrequencies rotation_frequencies(const RotaryLlama3& options) {
  return frequencies_of(rotation_of(options));
}

namespace descriptors {
namespace {

constexpr SchemeParameter kOwn[] = {
    {"factor", "8", "> 0", "divides low frequencies"},
    {"low_freq_factor", "1", "> 0",
     "pairs that turn fewer times than this over original_length are divided"},
    {"high_freq_factor", "4", ">= low_freq_factor", "pairs that turn more often are kept"},
    {"original_length", "8192", "1 .. 2^53", "the length of training"},
};
constexpr auto kParameters = rotation_parameters(kOwn, "500000");

RotaryLlama3 options_of(const Parameters& given, const SchemeRequest& request) {
  auto options = rotation_options<RotaryLlama3>(given, request);
  options.factor = given.number("factor");
  options.low_freq_factor = given.number("low_freq_factor");
  options.high_freq_factor = given.number("high_freq_factor");
  options.original_length = given.integer("original_length");
  return options;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kRotaryLlama3, request);
  return rotary_llama3<double>(options_of(given, request), one_id_a_row(given, request));
}

RotationFrequencies frequencies(const SchemeRequest& request) {
  return rotation_frequencies(options_of(Parameters(kRotaryLlama3, request), request));
}

}  // namespace

constinit const Scheme kRotaryLlama3 = {
    .name = "rotary_llama3",
    .kind = SchemeKind::rotated,
    .idea = "Rotary with slow pairs slowed further by a factor and fast pairs kept.",
    .paper = "Llama 3, 2407.21783",
    .parameters = kParameters,
    .make = make,
    .frequencies = frequencies,
};

}  // namespace descriptors
}  // namespace sextant
