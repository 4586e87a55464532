// The frequencies of the pairs of a rotation, and the scalings of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "core/max_position.h"
#include "core/wide_float.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

// base^(-2k / dim) for pair k of dim / 2, exactly and as float32 frameworks compute it.
struct RotaryLadder {
  // Throws Error("scope.base", ...) when a frequency is above 2^64.
  RotaryLadder(std::string_view scope, double base, std::int64_t dim);

  std::string_view scope;  // the scheme that errors name
  double base;
  std::int64_t dim;
  std::vector<WideFloat> exact;  // radians per position
  std::vector<float> framework;
  double amplitude = 1;  // what multiplies cosines and sines

  std::int64_t pairs() const noexcept { return dim / 2; }
  std::string where(std::string_view option) const {
    return std::string(scope) + "." + std::string(option);
  }
};

// Each changes the ladder for a text of `length` tokens; its file has the formula. Options as
// checked by their fields; throws Error for what depends on the ladder or on two options.
inline void scale(RotaryLadder&, const std::monostate&, std::int64_t /*length*/) {}
void scale(RotaryLadder& ladder, const LinearScaling& scaling, std::int64_t length);
void scale(RotaryLadder& ladder, const NtkScaling& scaling, std::int64_t length);
void scale(RotaryLadder& ladder, const DynamicNtkScaling& scaling, std::int64_t length);
void scale(RotaryLadder& ladder, const YarnScaling& scaling, std::int64_t length);
void scale(RotaryLadder& ladder, const Llama3Scaling& scaling, std::int64_t length);
void scale(RotaryLadder& ladder, const LongropeScaling& scaling, std::int64_t length);
void scale(RotaryLadder& ladder, const ProportionalScaling& scaling, std::int64_t length);

// The ladder of the base base * stretch^(dim / (dim - 2)) instead (NTK); stretch > 0. Throws Error
// for a single pair.
void stretch_base(RotaryLadder& ladder, const WideFloat& stretch);
double stretched_base(std::string_view scope, double base, std::int64_t dim, double stretch);

// float(base)^float(numerator / denominator), each step rounded to float32: what frameworks take
// the reciprocals of; for numerators 0, 2, ... 2 (count - 1).
std::vector<float> framework_powers(double base, std::int64_t denominator, std::int64_t count);

// Lengths in tokens.
inline constexpr IntegerRange kLengths{1, kMaxPosition};

// Of a text with these ids, that scalings depend on: the largest + 1. Ids may be out of range
// still.
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
