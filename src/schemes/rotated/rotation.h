// Describes a rotation before it becomes a table: its channels, and the frequency of each pair.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/numbers/max_position.h"
#include "core/numbers/wide_float.h"
#include "core/options/fields.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct Rotation {
  std::string_view scheme;  // the name in errors
  double base = 1;
  std::int64_t dim = 0;  // rotated channels
  std::int64_t first_channel = 0;
  RotaryLayout layout = RotaryLayout::half_split;
  Precision precision = Precision::exact;
  int threads = 0;
  std::vector<WideFloat> frequencies;  // radians per position of each pair, 0 .. 2^64
  std::vector<float> framework;        // the values of float32 frameworks for them
  double amplitude = 1;                // multiplies cosines and sines; finite
  // Several ids a row: the axis of each pair, 0 .. axes - 1. Empty: every pair is of the only axis.
  std::vector<std::int32_t> axis_of_pair;
  std::int64_t axes = 1;

  std::int64_t pairs() const noexcept { return dim / 2; }
  std::string where(std::string_view option) const {
    return std::string(scheme) + "." + std::string(option);
  }
};

// Channels, layout and the other common options; frequencies are still to be set. Throws Error
// naming `scheme` and the option.
Rotation rotation_of_channels(std::string_view scheme, const Rotary& common);
// The same of options that share these fields, checked.
template <class Options>
Rotation rotation_from(std::string_view scheme, const Options& options) {
  check_fields(scheme, options);
  return rotation_of_channels(scheme, {.head_dim = options.head_dim,
                                       .rotary_dim = options.rotary_dim,
                                       .base = options.base,
                                       .layout = options.layout,
                                       .span = options.span,
                                       .precision = options.precision,
                                       .threads = options.threads});
}

// Sets the frequencies to base^(-2k / dim) for pair k, exactly and as float32 frameworks compute
// it. Throws Error("scheme.base") when one is above 2^64.
void set_frequencies(Rotation& rotation);

// Throws Error when frequencies are out of range, negative, or beyond float32 in frameworks.
void check_frequencies(const Rotation& rotation);
RotationFrequencies frequencies_of(const Rotation& rotation);

// Throws Error("scheme.gradient") unless the gradient of a table, that of the cosines and then that
// of the sines, is [2, ...] with the shape of the cosines.
void check_rotation_gradient(std::string_view scheme, View<const double> gradient,
                             const Shape& cosines);

// Each function changes the frequencies for a text of `length` tokens; its file has the formula.
// Fields have checked the options; throws Error for conditions on the rotation or on two options.
inline void scale(Rotation&, const std::monostate&, std::int64_t /*length*/) {}
void scale(Rotation& rotation, const LinearScaling& scaling, std::int64_t length);
void scale(Rotation& rotation, const NtkScaling& scaling, std::int64_t length);
void scale(Rotation& rotation, const DynamicNtkScaling& scaling, std::int64_t length);
void scale(Rotation& rotation, const YarnScaling& scaling, std::int64_t length);
void scale(Rotation& rotation, const Llama3Scaling& scaling, std::int64_t length);
void scale(Rotation& rotation, const LongropeScaling& scaling, std::int64_t length);
void scale(Rotation& rotation, const ProportionalScaling& scaling, std::int64_t length);

// The frequencies of the base base * stretch^(dim / (dim - 2)) instead (NTK); stretch > 0. Throws
// Error for a single pair.
void stretch_base(Rotation& rotation, const WideFloat& stretch);
double stretched_base(std::string_view scheme, double base, std::int64_t dim, double stretch);

// Lengths in tokens.
inline constexpr IntegerRange kLengths{1, kMaxPosition};

// Returns the length of a text with these ids, on which scalings depend: the largest + 1. Ids may
// still be out of range.
inline std::int64_t length_of(std::span<const std::int64_t> ids) noexcept {
  std::int64_t last = -1;
  for (const std::int64_t id : ids) last = std::max(last, id);
  return std::min(last, kLengths.max) + 1;
}
inline std::int64_t length_of(std::span<const double> times) noexcept {
  double last = -1;
  for (const double time : times) last = std::max(last, std::floor(time));
  return static_cast<std::int64_t>(std::min(last, static_cast<double>(kLengths.max))) + 1;
}

}  // namespace sextant
