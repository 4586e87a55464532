// One axis of decomposed relative positions: a learned vector for each offset of two patches along
// it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/attention/geometry.h"
#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant::schemes_detail {

inline constexpr const char* kDecomposed = "decomposed_2d";

// The patches of an axis that have a query or a key: every query_step-th and every key_step-th of
// `side` patches. One of the steps is 1, both divide `side`.
struct AxisPatches {
  std::int64_t side, query_step = 1, key_step = 1;
};

// Offsets [begin, end) of those in a table.
struct Offsets {
  std::int64_t begin, end;

  bool is_empty() const noexcept { return begin >= end; }
  std::int64_t count() const noexcept { return end - begin; }
  void add(std::int64_t first, std::int64_t last) noexcept {
    begin = begin < first ? begin : first;
    end = end > last ? end : last;
  }
};

// Query y and key z of an axis have row query_step y - key_step z + key_step (keys - 1) of its
// table (MViTv2's cal_rel_pos_spatial). Their offset is another number, which ascends by 1 from key
// to key: origin(y) + z. With pooled keys, each remainder of a query's patch by key_step has its
// own 2 keys - 1 offsets.
class DecomposedAxis {
 public:
  // weights: [2 side - 1, head_dim] or [heads, ...]. Throws Error for others.
  DecomposedAxis(const AxisPatches& patches, std::string_view name, const Tensor<double>& weights);

  std::int64_t queries() const noexcept { return patches_.side / patches_.query_step; }
  std::int64_t keys() const noexcept { return patches_.side / patches_.key_step; }
  // The offset of key 0 from query y.
  std::int64_t origin(std::int64_t y) const noexcept {
    const std::int64_t patch = patches_.query_step * y, step = patches_.key_step;
    return patch % step * (2 * keys() - 1) + keys() - 1 - patch / step;
  }
  const Tensor<double>& table() const noexcept {
    return table_;
  }  // [heads or 1, 2 side - 1, head_dim]
  std::int64_t offsets() const noexcept { return patches_.key_step * (2 * keys() - 1); }
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
    return &table_(head(h), rows_[static_cast<std::size_t>(offset)], 0);
  }

  AxisPatches patches_;
  std::vector<std::int64_t> rows_;  // of the table, by offset
  Tensor<double> table_;
  Tensor<float> columns_;  // [heads or 1, head_dim, padded]: offsets in lanes
};

}  // namespace sextant::schemes_detail
