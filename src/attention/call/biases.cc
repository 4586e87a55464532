// The biases of one head of one sequence, whatever they come from, as kernels take them.
#include "attention/call/biases.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::attention_detail {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

// Adds so that a hidden pair stays hidden beside +infinity.
float sum(float a, float b) noexcept { return a == kHidden || b == kHidden ? kHidden : a + b; }

// A pair's bias from a table plus that of the slope, rounded once; finite stays finite.
float rounded_sum(double added, double sloped) noexcept {
  constexpr double kLowest = std::numeric_limits<float>::lowest();
  if (added == -std::numeric_limits<double>::infinity()) return kHidden;
  const double both = added + sloped;
  return static_cast<float>(both < kLowest ? kLowest : both);
}

}  // namespace

template <class T>
void HeadBiases<T>::fill_distances(std::int64_t first_distance, std::int64_t count, double factor,
                                   float* to) const noexcept {
  const double slope = -arguments.slope(head) * factor;
  for (std::int64_t i = 0; i < count; ++i) {
    to[i] = rounded_sum(0, slope * std::abs(static_cast<double>(first_distance + i)));
  }
  const float* row = arguments.bias_row(head);
  if (row == nullptr) return;
  const std::int64_t origin = arguments.bias->origin;
  const std::int64_t begin = std::max<std::int64_t>(0, -(first_distance + origin));
  const std::int64_t end =
      std::min(count, arguments.bias->values.size(1) - (first_distance + origin));
  for (std::int64_t i = begin; i < end; ++i) {
    to[i] = rounded_sum(static_cast<double>(row[first_distance + origin + i]) * factor,
                        slope * std::abs(static_cast<double>(first_distance + i)));
  }
}

template <class T>
void HeadBiases<T>::add_by_ids(std::int64_t query, std::int64_t first_key, std::int64_t keys,
                               float* to) const noexcept {
  const std::int64_t position = arguments.query_position(sequence, query);
  const std::int64_t* ids = arguments.key_ids.at(sequence.batch, sequence.k_begin + first_key);
  const double slope = -arguments.slope(head);
  const float* row = arguments.bias_row(head);
  const std::int64_t origin = row == nullptr ? 0 : arguments.bias->origin;
  const std::int64_t columns = row == nullptr ? 0 : arguments.bias->values.size(1);
  for (std::int64_t j = 0; j < keys; ++j) {
    const std::int64_t distance = ids[j] - position, column = distance + origin;
    // Distances outside the table belong to hidden pairs.
    const double added = column >= 0 && column < columns ? static_cast<double>(row[column]) : 0;
    to[j] = sum(to[j], rounded_sum(added, slope * std::abs(static_cast<double>(distance))));
  }
}

template <class T>
void HeadBiases<T>::add_masks(std::int64_t query, std::int64_t first_key, std::int64_t keys,
                              float* to) const noexcept {
  const Arguments<T>& a = arguments;
  const auto row_of = [&](const auto& mask) {
    return mask.data + sequence.batch * mask.strides[0] + head * mask.strides[1] +
           (sequence.q_begin + query) * mask.strides[2] +
           (sequence.k_begin + first_key) * mask.strides[3];
  };
  if (a.float_mask.data != nullptr) {
    const auto* from = row_of(a.float_mask);
    const std::int64_t stride = a.float_mask.strides[3];
    for (std::int64_t j = 0; j < keys; ++j) {
      to[j] = sum(to[j], static_cast<float>(from[j * stride]));
    }
  }
  if (a.bool_mask.data != nullptr) {
    const std::uint8_t* from = row_of(a.bool_mask);
    const std::int64_t stride = a.bool_mask.strides[3];
    for (std::int64_t j = 0; j < keys; ++j) to[j] = from[j * stride] != 0 ? to[j] : kHidden;
  }
}

template <class T>
void HeadBiases<T>::fill_rows(std::int64_t first_query, std::int64_t queries,
                              std::int64_t first_key, std::int64_t keys, const float* distances,
                              std::int64_t first_distance, float* to,
                              std::int64_t to_row) const noexcept {
  const Arguments<T>& a = arguments;
  if (a.indexed != nullptr) {
    a.indexed->fill(a.tile(sequence, head, first_query, queries, first_key, keys), to, to_row);
  }
  for (std::int64_t i = 0; i < queries; ++i, to += to_row) {
    const std::int64_t query = first_query + i;
    if (a.indexed == nullptr) std::fill_n(to, keys, 0.0F);
    if (distances != nullptr) {
      const float* from =
          distances + (first_key - a.diagonal_key(sequence, query) - first_distance);
      for (std::int64_t j = 0; j < keys; ++j) to[j] = sum(to[j], from[j]);
    } else if (a.by_ids && has_distances()) {
      add_by_ids(query, first_key, keys, to);
    }
    add_masks(query, first_key, keys, to);
  }
}

template struct HeadBiases<float>;
template struct HeadBiases<float16>;
template struct HeadBiases<bfloat16>;

}  // namespace sextant::attention_detail
