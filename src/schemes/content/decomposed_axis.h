// One axis of decomposed relative positions: a learned vector for each offset of two patches along
// it.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/attention/geometry.h"
#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant::schemes_detail {

inline constexpr const char* kDecomposed = "decomposed_2d";

// Offsets [begin, end) of those in a table. An offset is that of a key from a query: key - query +
// side - 1.
struct Offsets {
  std::int64_t begin, end;

  bool is_empty() const noexcept { return begin >= end; }
  std::int64_t count() const noexcept { return end - begin; }
  void add(std::int64_t first, std::int64_t last) noexcept {
    begin = begin < first ? begin : first;
    end = end > last ? end : last;
  }
};

class DecomposedAxis {
 public:
  // weights: [2 side - 1, head_dim] or [heads, ...], by query - key. Throws Error for others.
  DecomposedAxis(std::int64_t side, std::string_view name, const Tensor<double>& weights);

  std::int64_t side() const noexcept { return side_; }
  const Tensor<double>& table() const noexcept {
    return table_;
  }  // [heads or 1, offsets, head_dim]
  std::int64_t offsets() const noexcept { return 2 * side_ - 1; }
  std::int64_t padded() const noexcept { return kernels::padded_width(offsets()); }
  Offsets no_offsets() const noexcept { return {offsets(), 0}; }

  // products[i * padded() + offset] of the queries of a tile.
  void multiply(const ScoreTile<float>& tile, Offsets of, float* products) const noexcept;
  void multiply(const ScoreTile<double>& tile, Offsets of, double* products) const noexcept;

  // Gradients of query i and of the table, from the sums of its scores' gradients by offset.
  void backward(const ScoreGradient<double>& tile, std::int64_t i, const double* sums,
                double* parameters) const noexcept;
  // The same of all queries of a tile: sums[offset * kQueryBlock + i]. q: [queries][padded
  // head_dim]; `room` has room for products.
  void backward(const ScoreGradient<float>& tile, Offsets of, const float* sums, const float* q,
                float* room, double* parameters) const noexcept;
  // How many numbers `room` has.
  std::int64_t room() const noexcept;

 private:
  std::int64_t head(std::int64_t h) const noexcept { return table_.size(0) == 1 ? 0 : h; }
  const double* vector(std::int64_t h, std::int64_t offset) const noexcept {
    return &table_(head(h), offsets() - 1 - offset, 0);
  }

  std::int64_t side_;
  Tensor<double> table_;
  Tensor<float> columns_;  // [heads or 1, head_dim, padded]: offsets in lanes
};

}  // namespace sextant::schemes_detail
