// CoPE by rows: gates of some keys at a time, from the last one on, until all positions are the
// last of the table.
#include "schemes/content/cope_tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention/geometry.h"
#include "kernels/attention/row_functions.h"
#include "kernels/attention/row_products.h"
#include "kernels/attention/score_tiles.h"

namespace sextant::schemes_detail {

using kernels::kSummedRows, kernels::padded_width;

namespace {

constexpr std::int64_t kChunk = 128;  // keys

}  // namespace

// Up to kSummedRows queries, and their arrays in scratch.
struct CopeTiles::Group {
  std::int64_t first, rows;
  const float* q;
  std::int64_t q_stride;
  float* z;          // [rows][padded]: products of the query with the table
  float* dz;         // likewise, their gradients
  float* products;   // room for transposed gradients, rows of q, and a product
  float* gates;      // [rows][keys], by key
  float* positions;  // likewise
  std::int64_t keys;
};

CopeTiles::CopeTiles(const Tensor<double>& table)
    : count_(table.size(1)),
      last_(count_ - 1),
      padded_(padded_width(count_)),
      head_dim_(table.size(2)),
      padded_dim_(padded_width(head_dim_)),
      columns_({head_dim_, padded_}),
      rows_({count_, padded_dim_}) {
  for (std::int64_t p = 0; p < count_; ++p) {
    for (std::int64_t c = 0; c < head_dim_; ++c) {
      columns_(c, p) = rows_(p, c) = static_cast<float>(table(0, p, c));
    }
  }
}

std::int64_t CopeTiles::scratch() const noexcept {
  return 3 * kSummedRows * padded_ + kSummedRows * padded_dim_ +
         std::max(count_, kSummedRows) * padded_dim_;
}

std::int64_t CopeTiles::scratch_per_key() const noexcept { return 2 * kSummedRows; }

CopeTiles::Group CopeTiles::group_of(const ScoreInputs<float>& tile,
                                     std::int64_t first) const noexcept {
  float* const z = tile.scratch;
  float* const by_key = tile.scratch + scratch();
  const Group group{.first = first,
                    .rows = std::min(kSummedRows, tile.queries - first),
                    .q = tile.q + first * tile.q_stride,
                    .q_stride = tile.q_stride,
                    .z = z,
                    .dz = z + kSummedRows * padded_,
                    .products = z + 2 * kSummedRows * padded_,
                    .gates = by_key,
                    .positions = by_key + kSummedRows * tile.keys,
                    .keys = tile.keys};
  kernels::row_products({.a = group.q,
                         .a_row = group.q_stride,
                         .rows = group.rows,
                         .steps = head_dim_,
                         .b = columns_.data(),
                         .b_step = padded_,
                         .columns = padded_,
                         .c = group.z,
                         .c_row = padded_});
  // A number beyond float32 would hide keys; NaN asks for the float64 rows.
  std::for_each_n(group.z, group.rows * padded_, [](float& number) {
    if (std::isinf(number)) number = std::numeric_limits<float>::quiet_NaN();
  });
  return group;
}

// Fills gates and positions of the keys before `end`; returns the first of them. `sums` are those
// of the gates of later keys.
std::int64_t CopeTiles::fill_chunk(const Group& group, const float* scores, std::int64_t stride,
                                   std::int64_t end, double* sums) const noexcept {
  const std::int64_t begin = std::max<std::int64_t>(0, end - kChunk);
  for (std::int64_t r = 0; r < group.rows; ++r) {
    float* const gates = group.gates + r * group.keys + begin;
    kernels::sigmoids(scores + r * stride + begin, end - begin, gates);
    std::copy_n(gates, end - begin, group.positions + r * group.keys + begin);
  }
  kernels::sum_from_end({group.positions, group.keys, group.rows}, begin, end, sums);
  return begin;
}

// Whether all keys before have the last position.
bool CopeTiles::all_last(const Group& group, const double* sums) const noexcept {
  return std::all_of(sums, sums + group.rows,
                     [&](double sum) { return sum >= static_cast<double>(last_); });
}

void CopeTiles::add(const ScoreTile<float>& tile, float factor) const noexcept {
  for (std::int64_t first = 0; first < tile.queries; first += kSummedRows) {
    const Group group = group_of(tile, first);
    float* const scores = tile.scores + first * tile.stride;
    double sums[kSummedRows] = {};
    for (std::int64_t end = tile.keys; end > 0;) {
      if (all_last(group, sums)) {
        for (std::int64_t r = 0; r < group.rows; ++r) {
          const float number = factor * group.z[r * padded_ + last_];
          std::for_each_n(scores + r * tile.stride, end, [=](float& score) { score += number; });
        }
        break;
      }
      const std::int64_t begin = fill_chunk(group, scores, tile.stride, end, sums);
      for (std::int64_t r = 0; r < group.rows; ++r) {
        kernels::add_interpolated(group.positions + r * tile.keys + begin, end - begin,
                                  group.z + r * padded_, last_, factor,
                                  scores + r * tile.stride + begin);
      }
      end = begin;
    }
  }
}

void CopeTiles::backward(const ScoreGradient<float>& tile, double factor) const noexcept {
  for (std::int64_t first = 0; first < tile.queries; first += kSummedRows) {
    const Group group = group_of(tile, first);
    double sums[kSummedRows] = {};
    std::int64_t begin = tile.keys;
    while (begin > 0 && !all_last(group, sums)) {
      begin = fill_chunk(group, tile.scores + first * tile.stride, tile.stride, begin, sums);
    }
    std::fill_n(group.dz, kSummedRows * padded_, 0.0F);
    for (std::int64_t r = 0; r < group.rows; ++r) {
      row_backward(group, r, begin, tile.keys, factor, tile.dscores + (first + r) * tile.stride,
                   group.dz + r * padded_);
    }
    add_products(group, tile);
  }
}

// The gradients of the products with the table, and of the scores by their gates. Keys before
// `begin` have the last position, which does not depend on gates.
void CopeTiles::row_backward(const Group& group, std::int64_t row, std::int64_t begin,
                             std::int64_t keys, double factor, float* dscores,
                             float* dz) const noexcept {
  const float* const z = group.z + row * padded_;
  const float* const gates = group.gates + row * keys;
  const float* const positions = group.positions + row * keys;
  double of_last = 0, dgate = 0;  // a gate counts in the positions of its key and of all before it
  for (std::int64_t j = 0; j < begin; ++j) of_last += static_cast<double>(dscores[j]);
  for (std::int64_t j = begin; j < keys; ++j) {
    const double d = factor * static_cast<double>(dscores[j]);
    const auto position = static_cast<double>(std::min(positions[j], static_cast<float>(last_)));
    if (d != 0 && !std::isnan(position)) {
      const auto below = static_cast<std::int64_t>(position);
      const double fraction = position - static_cast<double>(below);
      const std::int64_t above = below + (fraction > 0 ? 1 : 0);
      dz[below] += static_cast<float>((1 - fraction) * d);
      dz[above] += static_cast<float>(fraction * d);
      dgate += d * (static_cast<double>(z[above]) - static_cast<double>(z[below]));
    } else if (d != 0) {
      dgate = position;
    }
    const auto gate = static_cast<double>(gates[j]);
    if (dgate != 0 && gate != 0) dscores[j] += static_cast<float>(dgate * gate * (1 - gate));
  }
  dz[last_] += static_cast<float>(factor * of_last);
}

// dq += dz table, and the gradient of the table: dz^T q.
void CopeTiles::add_products(const Group& group, const ScoreGradient<float>& tile) const noexcept {
  float* const dz_by_position = group.products;  // [npos][kSummedRows]
  float* const q = dz_by_position + kSummedRows * padded_;
  float* const product = q + kSummedRows * padded_dim_;
  kernels::row_products({.a = group.dz,
                         .a_row = padded_,
                         .rows = group.rows,
                         .steps = count_,
                         .b = rows_.data(),
                         .b_step = padded_dim_,
                         .columns = padded_dim_,
                         .c = product,
                         .c_row = padded_dim_});
  const auto add = [&](double* to, std::int64_t rows) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < head_dim_; ++c) {
        to[r * head_dim_ + c] += static_cast<double>(product[r * padded_dim_ + c]);
      }
    }
  };
  add(tile.dq + group.first * head_dim_, group.rows);
  kernels::transpose_tile(group.dz, padded_, group.rows, count_, dz_by_position, kSummedRows);
  std::fill_n(q, kSummedRows * padded_dim_, 0.0F);
  for (std::int64_t r = 0; r < group.rows; ++r) {
    const float* const dz = group.dz + r * padded_;
    const bool is_used = std::any_of(dz, dz + count_, [](float x) { return x != 0; });
    if (is_used) std::copy_n(group.q + r * group.q_stride, head_dim_, q + r * padded_dim_);
  }
  kernels::row_products({.a = dz_by_position,
                         .a_row = kSummedRows,
                         .rows = count_,
                         .steps = group.rows,
                         .b = q,
                         .b_step = padded_dim_,
                         .columns = padded_dim_,
                         .c = product,
                         .c_row = padded_dim_});
  add(tile.parameters, count_);
}

}  // namespace sextant::schemes_detail
