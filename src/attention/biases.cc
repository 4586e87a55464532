// The biases of one head of one sequence, whatever they come from, as kernels take them.
#include "biases.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::detail {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

// Adds so that a hidden pair stays hidden beside +infinity.
float sum(float a, float b) noexcept { return a == kHidden || b == kHidden ? kHidden : a + b; }

}  // namespace

template <class T>
void HeadBiases<T>::fill_distances(std::int64_t least, std::int64_t count, double unit,
                                   float* to) const noexcept {
  constexpr double kLowest = std::numeric_limits<float>::lowest();
  const double slope = -arguments.slope(head) * unit;
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<float>(std::max(kLowest, slope * std::abs(static_cast<double>(least + i))));
  }
  const float* row = arguments.bias_row(head);
  if (row == nullptr) return;
  const std::int64_t origin = arguments.bias->origin;
  const std::int64_t begin = std::max<std::int64_t>(0, -(least + origin));
  const std::int64_t end = std::min(count, arguments.bias->values.size(1) - (least + origin));
  for (std::int64_t i = begin; i < end; ++i) {
    const double added = static_cast<double>(row[least + origin + i]) * unit;
    const double both = added + slope * std::abs(static_cast<double>(least + i));
    to[i] = added == -std::numeric_limits<double>::infinity()
                ? kHidden
                : static_cast<float>(std::max(kLowest, both));
  }
}

template <class T>
void HeadBiases<T>::fill_row(std::int64_t query, std::int64_t first_key, std::int64_t keys,
                             const float* distances, std::int64_t least, float* to) const noexcept {
  const Arguments<T>& a = arguments;
  if (a.indexed != nullptr) {
    a.indexed->fill(a.tile(sequence, head, query, 1, first_key, keys), to, keys);
  } else {
    std::fill_n(to, keys, 0.0F);
  }
  if (distances != nullptr) {
    const float* from = distances + (first_key - a.own_key(sequence, query) - least);
    for (std::int64_t j = 0; j < keys; ++j) to[j] = sum(to[j], from[j]);
  }
  const auto row_of = [&](const auto& mask) {
    return mask.data + sequence.batch * mask.strides[0] + head * mask.strides[1] +
           (sequence.begin + query) * mask.strides[2] +
           (sequence.begin + first_key) * mask.strides[3];
  };
  if (a.float_mask.data != nullptr) {
    const auto* from = row_of(a.float_mask);
    const std::int64_t stride = a.float_mask.strides[3];
    for (std::int64_t j = 0; j < keys; ++j) {
      to[j] = sum(to[j], static_cast<float>(from[j * stride]));
    }
  }
  if (a.bool_mask.data != nullptr) {
    const bool* from = row_of(a.bool_mask);
    const std::int64_t stride = a.bool_mask.strides[3];
    for (std::int64_t j = 0; j < keys; ++j) to[j] = from[j * stride] ? to[j] : kHidden;
  }
}

template struct HeadBiases<float>;
template struct HeadBiases<float16>;
template struct HeadBiases<bfloat16>;

}  // namespace sextant::detail
