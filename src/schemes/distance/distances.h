// Helpers of biases by distance: the length of a table, its checks, and filling it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "core/threads/interruption.h"
#include "schemes/weight_checks.h"
#include "sextant/core/tensor.h"
#include "sextant/schemes/scheme.h"
#include "sextant/tables/distance_bias.h"

namespace sextant::schemes_detail {

inline constexpr double kHiddenPair = -std::numeric_limits<double>::infinity();

// L for a request: its largest id - its smallest + 1; 1 when it has none. Throws
// Error("scheme.positions") for more than one axis and for ids further apart than 2^28 - 1.
std::int64_t distances_of(std::string_view scheme, const SchemeRequest& request);

// Throws Error("scheme.heads") unless heads is in 1 .. 2^20, and Error("scheme.length") unless
// length is in 1 .. 2^28 and the table has at most 2^31 numbers.
void check_distances(std::string_view scheme, std::int64_t heads, std::int64_t length);

// L of the gradient of a table, [heads, 2L - 1]; throws Error("scheme.gradient") when it is none.
std::int64_t length_of_gradient(std::string_view scheme, std::int64_t heads,
                                View<const double> gradient);

// Infinity from huge weights and long distances becomes the largest finite number, so that it hides
// nothing.
inline double finite(double value) noexcept {
  constexpr double kMax = std::numeric_limits<double>::max();
  return std::clamp(value, -kMax, kMax);
}

// Rounds once. A number beyond float32 becomes the largest one: finite biases hide nothing; -0
// becomes 0.
inline float rounded_bias(double value) noexcept {
  constexpr double kMax = std::numeric_limits<float>::max();
  return static_cast<float>(std::isinf(value) ? value : std::clamp(value, -kMax, kMax) + 0.0);
}

// [heads, 2L - 1] of value(head, distance), distance = key - query.
template <class Value>
DistanceBias bias_by_distance(std::string_view scheme, std::int64_t heads, std::int64_t length,
                              Value value) {
  check_distances(scheme, heads, length);
  DistanceBias bias{Tensor<float>::uninitialized({heads, 2 * length - 1}), length - 1};
  float* to = bias.values.data();
  for (std::int64_t head = 0; head < heads; ++head) {
    in_parts(2 * length - 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        *to++ = rounded_bias(value(head, i - (length - 1)));
      }
    });
  }
  return bias;
}

// The same of value(head, |distance|), which is called once for both directions.
template <class Value>
DistanceBias symmetric_bias(std::string_view scheme, std::int64_t heads, std::int64_t length,
                            Value value) {
  check_distances(scheme, heads, length);
  DistanceBias bias{Tensor<float>::uninitialized({heads, 2 * length - 1}), length - 1};
  for (std::int64_t head = 0; head < heads; ++head) {
    float* middle = bias.values.data() + head * (2 * length - 1) + length - 1;
    in_parts(length, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t distance = begin; distance < end; ++distance) {
        middle[distance] = middle[-distance] = rounded_bias(value(head, distance));
      }
    });
  }
  return bias;
}

// The gradient of a table [rows, heads] whose row row_of(distance) is the bias of a distance, from
// that of the bias: its sums over the distances of each row.
template <class RowOf>
Tensor<double> row_sums(std::string_view scheme, const Tensor<double>& table,
                        View<const double> gradient, const RowOf& row_of) {
  const std::int64_t heads = table.size(1);
  const std::int64_t length = length_of_gradient(scheme, heads, gradient);
  Tensor<double> sums(table.shape());
  for (std::int64_t head = 0; head < heads; ++head) {
    in_parts(2 * length - 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        sums(row_of(i - (length - 1)), head) += gradient(head, i);
      }
    });
  }
  return sums;
}

}  // namespace sextant::schemes_detail
