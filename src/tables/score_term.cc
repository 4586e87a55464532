// Implements the optional functions of terms.
#include "sextant/tables/score_term.h"

#include <algorithm>
#include <vector>

#include "core/threads/scratch_lease.h"

namespace sextant {

void ScoreTerm::add(const ScoreTile<double>& tile) const noexcept {
  constexpr std::int64_t kKeys = 128;
  float values[kKeys];
  std::vector<float> q, k;  // rows, for terms that read any
  const auto rounded = [&](const double* from, std::int64_t stride, std::int64_t rows,
                           std::vector<float>& to) -> const float* {
    if (from == nullptr) return nullptr;
    to.resize(static_cast<std::size_t>(rows * tile.head_dim));
    for (std::int64_t r = 0; r < rows; ++r) {
      std::transform(from + r * stride, from + r * stride + tile.head_dim,
                     to.data() + r * tile.head_dim, [](double x) { return static_cast<float>(x); });
    }
    return to.data();
  };
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    for (std::int64_t begin = 0; begin < tile.keys; begin += kKeys) {
      ScoreTile<float> part{};
      static_cast<ScoreRect&>(part) = tile;
      part.first_query += i;
      part.queries = 1;
      part.first_key += begin;
      part.keys = std::min(kKeys, tile.keys - begin);
      if (tile.query_positions != nullptr) part.query_positions += i;
      if (tile.key_positions != nullptr) part.key_positions += begin;
      part.head_dim = tile.head_dim;
      part.scale = tile.scale;
      part.scratch = reinterpret_cast<float*>(tile.scratch);
      part.q = rounded(tile.q == nullptr ? nullptr : tile.q + i * tile.q_stride, 0, 1, q);
      part.k = rounded(tile.k == nullptr ? nullptr : tile.k + begin * tile.k_stride, tile.k_stride,
                       part.keys, k);
      part.q_stride = part.k_stride = tile.head_dim;
      part.scores = values;
      part.stride = kKeys;
      std::fill_n(values, part.keys, 0.0F);
      add(part);
      for (std::int64_t j = 0; j < part.keys; ++j) {
        tile.add(i, begin + j, static_cast<double>(values[j]));
      }
    }
  }
}

void write_term(const ScoreTerm& term, const ScoreRect& rect, float* to) {
  std::vector<float> scratch(static_cast<std::size_t>(term.needs().scratch));
  std::fill_n(to, rect.queries * rect.keys, 0.0F);
  for (std::int64_t i = 0; i < rect.queries; ++i) {
    ScoreTile<float> row{};
    static_cast<ScoreRect&>(row) = rect;
    row.first_query += i;
    row.queries = 1;
    if (rect.query_positions != nullptr) row.query_positions += i;
    row.scratch = scratch.data();
    row.scores = to + i * rect.keys;
    row.stride = rect.keys;
    term.add(row);
  }
}

void ScoreTerm::backward(const ScoreGradient<double>&) const noexcept {}

void ScoreTerm::backward(const ScoreGradient<float>& tile) const noexcept {
  const std::int64_t n = tile.head_dim;
  const TermNeeds of_term = needs();
  struct Arrays {
    float *scores, *dscores, *q, *k, *scratch;  // each as large as the doubles in it
  };
  const DividedLease lease([&](ScratchDivider<float>& arrays) {
    return Arrays{
        .scores = arrays.take_if(tile.scores != nullptr, 2 * tile.queries * tile.keys),
        .dscores = arrays.take(2 * tile.queries * tile.keys),
        .q = arrays.take_if(tile.q != nullptr, 2 * tile.queries * n),
        .k = arrays.take_if(tile.k != nullptr, 2 * tile.keys * n),
        .scratch = arrays.take(2 * (of_term.scratch + of_term.scratch_per_key * tile.keys))};
  });
  const auto widened = [](const float* from, std::int64_t stride, std::int64_t rows,
                          std::int64_t count, float* memory) -> double* {
    if (from == nullptr) return nullptr;
    auto* const to = reinterpret_cast<double*>(memory);
    for (std::int64_t r = 0; r < rows; ++r) std::copy_n(from + r * stride, count, to + r * count);
    return to;
  };
  ScoreGradient<double> wide{};
  static_cast<ScoreRect&>(wide) = tile;
  wide.head_dim = n;
  wide.scale = tile.scale;
  wide.q = widened(tile.q, tile.q_stride, tile.queries, n, lease.arrays.q);
  wide.k = widened(tile.k, tile.k_stride, tile.keys, n, lease.arrays.k);
  wide.q_stride = wide.k_stride = n;
  wide.scratch = reinterpret_cast<double*>(lease.arrays.scratch);
  wide.scores = widened(tile.scores, tile.stride, tile.queries, tile.keys, lease.arrays.scores);
  wide.dscores = widened(tile.dscores, tile.stride, tile.queries, tile.keys, lease.arrays.dscores);
  wide.stride = tile.keys;
  wide.dq = tile.dq;
  wide.dk = tile.dk;
  wide.parameters = tile.parameters;
  if (tile.scores == nullptr) return backward(wide);
  // Rows one by one, which change the gradients of scores.
  wide.queries = 1;
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    backward(wide);
    std::transform(wide.dscores, wide.dscores + tile.keys, tile.dscores + i * tile.stride,
                   [](double x) { return static_cast<float>(x); });
    ++wide.first_query;
    if (wide.query_positions != nullptr) ++wide.query_positions;
    if (wide.q != nullptr) wide.q += n;
    if (wide.dq != nullptr) wide.dq += n;
    wide.scores += tile.keys;
    wide.dscores += tile.keys;
  }
}

void ScoreTerm::add_values(const ScoreRect&, const double*, double*) const noexcept {}

void ScoreTerm::values_backward(const ScoreRect&, const double*, const double*, double*,
                                double*) const noexcept {}

}  // namespace sextant
