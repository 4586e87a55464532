// Products of queries with the vectors of one axis, and their gradients.
#include "schemes/content/decomposed_axis.h"

#include <algorithm>

#include "kernels/attention/row_products.h"
#include "schemes/content/relative_vectors.h"

namespace sextant::schemes_detail {

using kernels::kQueryBlock, kernels::kQueryGroup, kernels::padded_width;

DecomposedAxis::DecomposedAxis(const AxisPatches& patches, std::string_view name,
                               const Tensor<double>& weights)
    : patches_(patches),
      table_(table_of(kDecomposed, name, weights, 2 * patches.side - 1)),
      columns_({table_.size(0), table_.size(2), padded()}) {
  const std::int64_t step = patches.key_step, last = 2 * (keys() - 1);
  for (std::int64_t remainder = 0; remainder < step; ++remainder) {
    for (std::int64_t n = last; n >= 0; --n) rows_.push_back(remainder + n * step);
  }
  for (std::int64_t h = 0; h < table_.size(0); ++h) {
    for (std::int64_t n = 0; n < offsets(); ++n) {
      for (std::int64_t c = 0; c < table_.size(2); ++c) {
        columns_(h, c, n) = static_cast<float>(vector(h, n)[c]);
      }
    }
  }
}

void DecomposedAxis::multiply(const ScoreTile<float>& tile, Offsets of,
                              float* products) const noexcept {
  const std::int64_t first = of.begin / kQueryGroup * kQueryGroup;
  kernels::row_products({.a = tile.q,
                         .a_row = tile.q_stride,
                         .rows = tile.queries,
                         .steps = tile.head_dim,
                         .b = &columns_(head(tile.head), 0, first),
                         .b_step = padded(),
                         .columns = padded_width(of.end - first),
                         .c = products + first,
                         .c_row = padded()});
}

void DecomposedAxis::multiply(const ScoreTile<double>& tile, Offsets of,
                              double* products) const noexcept {
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    for (std::int64_t n = of.begin; n < of.end; ++n) {
      const double *q = tile.q + i * tile.q_stride, *x = vector(tile.head, n);
      double sum = 0;
      for (std::int64_t c = 0; c < tile.head_dim; ++c) sum += q[c] * x[c];
      products[i * padded() + n] = sum;
    }
  }
}

void DecomposedAxis::backward(const ScoreGradient<double>& tile, std::int64_t i, const double* sums,
                              double* parameters) const noexcept {
  for (std::int64_t n = 0; n < offsets(); ++n) {
    if (sums[n] == 0) continue;
    const double* x = vector(tile.head, n);
    add_times(sums[n], x, tile.head_dim, tile.dq + i * tile.head_dim);
    add_times(sums[n], tile.q + i * tile.q_stride, tile.head_dim, parameters + (x - table_.data()));
  }
}

std::int64_t DecomposedAxis::room() const noexcept {
  const std::int64_t n = table_.size(2);
  return std::max(n * kQueryBlock, offsets() * padded_width(n));
}

void DecomposedAxis::backward(const ScoreGradient<float>& tile, Offsets of, const float* sums,
                              const float* q, float* room, double* parameters) const noexcept {
  const std::int64_t n = tile.head_dim, width = padded_width(n);
  const float* used = sums + of.begin * kQueryBlock;
  // dq: [head_dim][queries], the vectors times the sums.
  kernels::row_products({.a = &columns_(head(tile.head), 0, of.begin),
                         .a_row = padded(),
                         .rows = n,
                         .steps = of.count(),
                         .b = used,
                         .b_step = kQueryBlock,
                         .columns = padded_width(tile.queries),
                         .c = room,
                         .c_row = kQueryBlock});
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    for (std::int64_t c = 0; c < n; ++c) {
      tile.dq[i * n + c] += static_cast<double>(room[c * kQueryBlock + i]);
    }
  }
  // The table: [offsets][head_dim], the sums times the queries.
  kernels::row_products({.a = used,
                         .a_row = kQueryBlock,
                         .rows = of.count(),
                         .steps = tile.queries,
                         .b = q,
                         .b_step = width,
                         .columns = width,
                         .c = room,
                         .c_row = width});
  for (std::int64_t offset = of.begin; offset < of.end; ++offset) {
    double* to = parameters + (vector(tile.head, offset) - table_.data());
    const float* from = room + (offset - of.begin) * width;
    for (std::int64_t c = 0; c < n; ++c) to[c] += static_cast<double>(from[c]);
  }
}

}  // namespace sextant::schemes_detail
