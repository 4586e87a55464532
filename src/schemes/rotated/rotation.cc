// Channels and frequencies of rotations, and the larger base of the NTK scalings.
#include "schemes/rotated/rotation.h"

#include <cmath>

#include "kernels/sines/turns.h"
#include "schemes/rotated/frequencies.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

void set_framework(Rotation& rotation, double base) {
  rotation.framework = framework_powers(base, rotation.dim, rotation.pairs());
  for (float& frequency : rotation.framework) frequency = 1 / frequency;
}

}  // namespace

Rotation rotation_of_channels(std::string_view scheme, const Rotary& common) {
  Rotation rotation;
  rotation.scheme = scheme;
  rotation.base = common.base;
  rotation.dim = common.rotary_dim == 0 ? common.head_dim : common.rotary_dim;
  if (rotation.dim % 2 != 0) {
    throw Error(rotation.where("head_dim"),
                "must be even unless rotary_dim is given, got " + std::to_string(common.head_dim));
  }
  if (rotation.dim > common.head_dim) {
    throw Error(rotation.where("rotary_dim"), "must be even, 2 .. " +
                                                  std::to_string(common.head_dim) + ", got " +
                                                  std::to_string(rotation.dim));
  }
  rotation.first_channel = common.span == RotarySpan::last ? common.head_dim - rotation.dim : 0;
  rotation.layout = common.layout;
  rotation.precision = common.precision;
  rotation.threads = common.threads;
  return rotation;
}

void set_frequencies(Rotation& rotation) {
  rotation.frequencies = geometric_frequencies(rotation.base, 0, 2, rotation.dim, rotation.pairs(),
                                               rotation.where("base"));
  set_framework(rotation, rotation.base);
}

// Checks that frequencies allow exact tables, and that no float32 one is NaN.
void check_frequencies(const Rotation& rotation) {
  for (const WideFloat& frequency : rotation.frequencies) {
    if (frequency.is_negative() || frequency.exponent() > kernels::Turns::kMaxExponent) {
      throw Error(rotation.scheme,
                  "must keep every frequency at or below 2^64 radians per position, got " +
                      shortest(frequency.to_double()));
    }
  }
  if (rotation.precision == Precision::exact) return;
  for (const float frequency : rotation.framework) {
    if (std::isfinite(frequency)) continue;
    throw Error(rotation.where("precision"),
                "must be exact for frequencies beyond float32, got framework");
  }
}

RotationFrequencies frequencies_of(const Rotation& rotation) {
  check_frequencies(rotation);
  RotationFrequencies result;
  result.attention_factor = rotation.amplitude;
  if (rotation.precision == Precision::framework) {
    result.inv_freq.assign(rotation.framework.begin(), rotation.framework.end());
  } else {
    for (const WideFloat& f : rotation.frequencies) result.inv_freq.push_back(f.to_double());
  }
  return result;
}

void check_rotation_gradient(std::string_view scheme, View<const double> gradient,
                             const Shape& cosines) {
  bool fits = gradient.rank() == cosines.rank() + 1 && gradient.size(0) == 2;
  std::string wanted = "[2";
  for (int axis = 0; axis < cosines.rank(); ++axis) {
    fits = fits && gradient.size(axis + 1) == cosines[axis];
    wanted += ", " + std::to_string(cosines[axis]);
  }
  if (fits) return;
  throw Error(std::string(scheme) + ".gradient",
              "must be that of the cosines and then of the sines, " + wanted + "], got " +
                  gradient.shape().to_string());
}

double stretched_base(std::string_view scheme, double base, std::int64_t dim, double stretch) {
  if (dim <= 2) {
    throw Error(std::string(scheme) + ".rotary_dim", "must be above 2, got " + std::to_string(dim));
  }
  const auto n = static_cast<double>(dim);
  return base * std::pow(stretch, n / (n - 2));
}

void stretch_base(Rotation& rotation, const WideFloat& stretch) {
  const double base =
      stretched_base(rotation.scheme, rotation.base, rotation.dim, stretch.to_double());
  const auto dim = static_cast<std::uint64_t>(rotation.dim);
  const WideFloat log_base = log(WideFloat(rotation.base)) +
                             log(stretch) * WideFloat(static_cast<double>(dim)) / (dim - 2);
  rotation.frequencies = geometric_frequencies(log_base, 0, 2, rotation.dim, rotation.pairs());
  set_framework(rotation, base);
}

}  // namespace sextant
