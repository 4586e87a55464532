// Tiles of scores by distance: a product with all vectors that occur, then a diagonal of it.
#include "schemes/content/relative_tiles.h"

#include <algorithm>
#include <limits>

#include "core/arrays/converted.h"
#include "kernels/attention/bias_rows.h"
#include "kernels/attention/geometry.h"
#include "kernels/attention/row_products.h"

namespace sextant::schemes_detail {
namespace {

using kernels::kQueryGroup, kernels::padded_width;

constexpr std::int64_t kMaxJumps = 4096;

bool is_there(const Tensor<double>& table) { return table.rank() >= 2 && table.count() > 0; }

// [heads, rows, channels] as [heads, channels, columns], rounded once.
Tensor<float> transposed(const Tensor<double>& table, std::int64_t columns) {
  Tensor<float> to({table.size(0), table.size(2), columns});
  for (std::int64_t h = 0; h < table.size(0); ++h) {
    for (std::int64_t r = 0; r < table.size(1); ++r) {
      for (std::int64_t c = 0; c < table.size(2); ++c) {
        to(h, c, r) = static_cast<float>(table(h, r, c));
      }
    }
  }
  return to;
}

// Products with the rows of hidden pairs may be anything.
float plus(float score, float term) noexcept {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  return score == kHidden ? kHidden : score + term;
}

// The columns of the diagonals of a tile, if they are a few runs: neighbours, or the same one
// beyond the largest distance.
struct DiagonalRuns {
  // Diagonals [begin, end) have the columns column, column + step, ...
  struct Run {
    std::int64_t begin, end, column, step;
  };

  // Diagonals come in ascending order from 0 on.
  void add(std::int64_t diagonal, std::int64_t column) noexcept {
    if (!are_few()) return;
    if (count > 0) {
      Run& last = all[count - 1];
      const std::int64_t length = diagonal - last.begin;
      const std::int64_t step = column - (last.column + last.step * (length - 1));
      if (length == 1 && step >= -1 && step <= 1) last.step = step;
      if (step == last.step) {
        last.end = diagonal + 1;
        return;
      }
    }
    if (count < kFew) all[count] = {diagonal, diagonal + 1, column, 0};
    ++count;
  }
  bool are_few() const noexcept { return count <= kFew; }

  static constexpr std::int64_t kFew = 4;
  std::int64_t count = 0;
  Run all[kFew];
};

}  // namespace

// Products of rows with the vectors [first, first + columns) of a table, for the pairs of a tile.
struct RelativeTiles::Products {
  const ScoreTile<float>& tile;
  const float* rows;  // of queries or of keys
  std::int64_t row_stride, row_count;
  bool by_key;  // the rows are keys
  const float* table;
  std::int64_t first, columns;
  float* products;  // [row_count][kChunk]
};

RelativeTiles::RelativeTiles(const RelativeVectors& vectors)
    : v_(vectors), max_distance_(static_cast<std::int64_t>(vectors.rows.size()) / 2) {
  for (const std::int32_t row : v_.rows) table_rows_ = std::max<std::int64_t>(table_rows_, row + 1);
  for (std::size_t n = 1; n < v_.ids.size(); ++n) {
    ids_jump_ = ids_jump_ || v_.ids[n] != v_.ids[n - 1] + 1;
  }
  if (ids_jump_ && table_rows_ > kMaxJumps) fits_ = false;
  if (!fits_) return;
  columns_ = padded_width(table_rows_);
  if (is_there(v_.key_table)) key_table_ = transposed(v_.key_table, columns_);
  if (is_there(v_.query_table)) query_table_ = transposed(v_.query_table, columns_);
  const std::int64_t n = v_.head_dim;
  if (is_there(v_.content_bias)) {
    content_bias_ = Tensor<float>({v_.content_bias.size(0), n, kQueryGroup});
    for (std::int64_t h = 0; h < v_.content_bias.size(0); ++h) {
      for (std::int64_t c = 0; c < n; ++c)
        content_bias_(h, c, 0) = static_cast<float>(v_.content_bias(h, c));
    }
  }
  if (is_there(v_.position_bias)) position_bias_ = converted<float>(v_.position_bias);
  // Where ids jump, distances are not those of indices.
  if (is_there(v_.value_table) && !ids_jump_) value_table_ = converted<float>(v_.value_table);
}

ValueVectors RelativeTiles::value_vectors(std::int64_t head) const noexcept {
  if (value_table_.count() == 0) return {};
  const std::int64_t count = value_table_.size(1), heads = value_table_.size(0);
  return {.vectors = value_table_.data() + (heads == 1 ? 0 : head) * count * value_table_.size(2),
          .count = count,
          .number_of = v_.rows.data(),
          .largest = max_distance_};
}

void RelativeTiles::add_products(const Products& p) const noexcept {
  const ScoreTile<float>& tile = p.tile;
  kernels::row_products({.a = p.rows,
                         .a_row = p.row_stride,
                         .rows = p.row_count,
                         .steps = tile.head_dim,
                         .b = p.table + p.first,
                         .b_step = columns_,
                         .columns = p.columns,
                         .c = p.products,
                         .c_row = kChunk});
  if (ids_jump_) return add_by_ids(p);
  for (std::int64_t key = 0; key < tile.keys; key += kernels::kKeyBlock) {
    add_diagonals(p, key, std::min<std::int64_t>(tile.keys, key + kernels::kKeyBlock));
  }
}

// Keys [begin, end) of a tile. Pairs of one diagonal have one column.
void RelativeTiles::add_diagonals(const Products& p, std::int64_t begin,
                                  std::int64_t end) const noexcept {
  const ScoreTile<float>& tile = p.tile;
  const auto scale = static_cast<float>(tile.scale);
  const std::int64_t last_query = tile.queries - 1, count = end - begin + last_query;
  const std::int64_t lowest = tile.first_key + begin - tile.diagonal_key(last_query);
  std::int32_t columns[kernels::kQueryBlock + kernels::kKeyBlock];
  DiagonalRuns runs;
  bool has_all = true;
  for (std::int64_t n = 0; n < count; ++n) {
    columns[n] = static_cast<std::int32_t>(row_at(lowest + n) - p.first);
    has_all = has_all && columns[n] >= 0 && columns[n] < p.columns;
    runs.add(n, columns[n]);
  }
  if (!has_all) {  // a row of more keys than there are columns at a time
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t j = begin + n;
      if (last_query > 0 || columns[n] < 0 || columns[n] >= p.columns) continue;
      float& to = tile.scores[j];
      to = plus(to, scale * p.products[(p.by_key ? j : 0) * kChunk + columns[n]]);
    }
    return;
  }
  if (p.by_key || !runs.are_few()) {
    constexpr auto kStride = static_cast<std::int32_t>(kChunk);
    return kernels::add_diagonals_to_visible(
        {.products = p.products + (p.by_key ? begin : 0) * kChunk,
         .by_query = p.by_key ? 0 : kStride,
         .by_key = p.by_key ? kStride : 0,
         .columns = columns,
         .queries = tile.queries,
         .keys = end - begin,
         .to = tile.scores + begin,
         .to_row = tile.stride},
        scale);
  }
  const auto add = [scale](const kernels::BiasRow* rows, std::int64_t size) {
    kernels::add_to_visible(rows, size, scale);
  };
  kernels::RowList<kernels::BiasRow, decltype(add)> rows(add);
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    const std::int64_t shift = last_query - i - begin;  // from a key to its diagonal
    for (std::int64_t r = 0; r < runs.count; ++r) {
      const DiagonalRuns::Run& run = runs.all[r];
      const std::int64_t from = std::max(begin, run.begin - shift);
      const std::int64_t to = std::min(end, run.end - shift);
      if (from >= to) continue;
      const std::int64_t column = run.column + run.step * (from + shift - run.begin);
      rows.add({p.products + i * kChunk + column, tile.scores + i * tile.stride + from,
                static_cast<std::int32_t>(to - from), static_cast<std::int32_t>(run.step)});
    }
  }
}

// Of ids that are not consecutive every pair has a distance of its own.
void RelativeTiles::add_by_ids(const Products& p) const noexcept {
  const ScoreTile<float>& tile = p.tile;
  const auto scale = static_cast<float>(tile.scale);
  const auto id_count = static_cast<std::int64_t>(v_.ids.size());
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    const std::int64_t diagonal = tile.diagonal_key(i);
    if (diagonal < 0 || diagonal >= id_count) continue;  // no visible keys
    const std::int64_t query_id = v_.ids[static_cast<std::size_t>(diagonal)];
    float* to = tile.scores + i * tile.stride;
    for (std::int64_t j = 0; j < tile.keys; ++j) {
      const std::int64_t key_id = v_.ids[static_cast<std::size_t>(tile.first_key + j)];
      const std::int64_t column = row_at(key_id - query_id) - p.first;
      if (column < 0 || column >= p.columns) continue;
      to[j] = plus(to[j], scale * p.products[(p.by_key ? j : i) * kChunk + column]);
    }
  }
}

RelativeTiles::Columns RelativeTiles::columns_of(const ScoreRect& rect) const noexcept {
  std::int64_t min_query = rect.diagonal_key(0), max_query = min_query + rect.queries - 1;
  std::int64_t min_key = rect.first_key, max_key = min_key + rect.keys - 1;
  if (!v_.ids.empty()) {
    const auto id_count = static_cast<std::int64_t>(v_.ids.size());
    const std::int64_t first = std::max<std::int64_t>(min_query, 0);
    const std::int64_t last = std::min(max_query, id_count - 1);
    if (first > last) return {0, 0};
    const auto keys = std::minmax_element(v_.ids.begin() + min_key, v_.ids.begin() + max_key + 1);
    const auto queries = std::minmax_element(v_.ids.begin() + first, v_.ids.begin() + last + 1);
    min_key = *keys.first;
    max_key = *keys.second;
    min_query = *queries.first;
    max_query = *queries.second;
  }
  const std::int64_t one = row_at(min_key - max_query), other = row_at(max_key - min_query);
  return {std::min(one, other) / kQueryGroup * kQueryGroup, std::max(one, other) + 1};
}

std::int64_t RelativeTiles::row_at(std::int64_t distance) const noexcept {
  const std::int64_t at = std::clamp(distance, -max_distance_, max_distance_) + max_distance_;
  return v_.rows[static_cast<std::size_t>(at)];
}

void RelativeTiles::add(const ScoreTile<float>& tile) const noexcept {
  const std::int64_t n = tile.head_dim;
  float* shifted = tile.scratch;
  float* products = shifted + kernels::kQueryBlock * n;
  const auto head_of = [&](const Tensor<float>& table) {
    return table.data() + (table.size(0) == 1 ? 0 : tile.head * n * columns_);
  };
  if (content_bias_.count() > 0) {
    const auto scale = static_cast<float>(tile.scale);
    kernels::row_products({.a = tile.k,
                           .a_row = tile.k_stride,
                           .rows = tile.keys,
                           .steps = n,
                           .b = content_bias_.data() + tile.head * n * kQueryGroup,
                           .b_step = kQueryGroup,
                           .columns = kQueryGroup,
                           .c = products,
                           .c_row = kQueryGroup});
    for (std::int64_t j = 0; j < tile.keys; ++j) products[j] = products[j * kQueryGroup];
    kernels::BiasRow rows[kernels::kQueryBlock];
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      rows[i] = {products, tile.scores + i * tile.stride, static_cast<std::int32_t>(tile.keys), 1};
    }
    kernels::add_to_visible(rows, tile.queries, scale);
  }
  const float* q = tile.q;
  std::int64_t q_stride = tile.q_stride;
  if (position_bias_.count() > 0) {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t c = 0; c < n; ++c) {
        shifted[i * n + c] = q[i * q_stride + c] + position_bias_.data()[tile.head * n + c];
      }
    }
    q = shifted;
    q_stride = n;
  }
  const Columns all = columns_of(tile);
  for (std::int64_t first = all.begin; first < all.end; first += kChunk) {
    const std::int64_t columns = std::min(kChunk, padded_width(all.end - first));
    if (key_table_.count() > 0) {
      add_products(
          {tile, q, q_stride, tile.queries, false, head_of(key_table_), first, columns, products});
    }
    if (query_table_.count() > 0) {
      add_products({tile, tile.k, tile.k_stride, tile.keys, true, head_of(query_table_), first,
                    columns, products});
    }
  }
}

}  // namespace sextant::schemes_detail
