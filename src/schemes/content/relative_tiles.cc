// Tiles of scores by distance: a product with all vectors that come up, then a diagonal of it.
#include "schemes/content/relative_tiles.h"

#include <algorithm>
#include <limits>

#include "kernels/attention/geometry.h"
#include "kernels/attention/row_products.h"

namespace sextant::detail {
namespace {

using kernels::kGroupLanes;

constexpr std::int64_t kChunk = 256;  // vectors at a time: those of a tile and some
constexpr std::int64_t kMostJumps = 4096;
constexpr float kHidden = -std::numeric_limits<float>::infinity();

bool is_there(const Tensor<double>& table) { return table.rank() >= 2 && table.count() > 0; }

std::int64_t in_groups(std::int64_t count) {
  return (count + kGroupLanes - 1) / kGroupLanes * kGroupLanes;
}

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

float plus(float score, float term) noexcept { return score == kHidden ? kHidden : score + term; }

}  // namespace

// Products of rows with the vectors [first, first + columns) of a table, for the pairs of a tile.
struct RelativeTiles::Part {
  const ContentTerm::Tile& tile;
  const float* rows;  // of queries or of keys
  std::int64_t row_stride, row_count;
  bool by_key;  // the rows are keys
  const float* table;
  std::int64_t first, columns;
  float* scores;
  std::int64_t stride;
  float* products;  // [row_count][kChunk]
};

RelativeTiles::RelativeTiles(const RelativeVectors& vectors)
    : v_(vectors), reach_(static_cast<std::int64_t>(vectors.rows.size()) / 2) {
  for (std::size_t n = 0; n < v_.rows.size(); ++n) {
    table_rows_ = std::max<std::int64_t>(table_rows_, v_.rows[n] + 1);
    ascends_by_one_ = ascends_by_one_ && v_.rows[n] == static_cast<std::int32_t>(n);
  }
  for (std::size_t n = 1; n < v_.ids.size(); ++n) {
    if (v_.ids[n] != v_.ids[n - 1] + 1 && table_rows_ > kMostJumps) fits_ = false;
  }
  if (!fits_) return;
  columns_ = in_groups(table_rows_);
  if (is_there(v_.e)) e_ = transposed(v_.e, columns_);
  if (is_there(v_.g)) g_ = transposed(v_.g, columns_);
  const std::int64_t n = v_.head_dim;
  if (is_there(v_.u)) {
    u_ = Tensor<float>({v_.u.size(0), n, kGroupLanes});
    for (std::int64_t h = 0; h < v_.u.size(0); ++h) {
      for (std::int64_t c = 0; c < n; ++c) u_(h, c, 0) = static_cast<float>(v_.u(h, c));
    }
  }
  if (is_there(v_.o)) {
    o_ = Tensor<float>({v_.o.size(0), n});
    for (std::int64_t m = 0; m < o_.count(); ++m) {
      o_.data()[m] = static_cast<float>(v_.o.data()[m]);
    }
  }
}

std::int64_t RelativeTiles::scratch_size(std::int64_t head_dim) const noexcept {
  return kernels::kBlockLanes * head_dim + kernels::kKeyBlock * kChunk;
}

void RelativeTiles::add_products(const Part& p) const noexcept {
  const ContentTerm::Tile& tile = p.tile;
  kernels::row_products({.a = p.rows,
                         .a_row = p.row_stride,
                         .rows = p.row_count,
                         .steps = tile.head_dim,
                         .b = p.table + p.first,
                         .b_step = columns_,
                         .columns = p.columns,
                         .c = p.products,
                         .c_row = kChunk});
  const auto scale = static_cast<float>(tile.scale);
  const auto places = static_cast<std::int64_t>(v_.ids.size());
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    const std::int64_t own = tile.first_diagonal_key + i;
    if (places > 0 && (own < 0 || own >= places)) continue;  // sees nothing
    float* to = p.scores + i * p.stride;
    std::int64_t j = 0;
    const auto general = [&](std::int64_t end) {
      for (; j < end; ++j) {
        const std::int64_t key = tile.first_key + j;
        const std::int64_t distance = places == 0 ? key - own
                                                  : v_.ids[static_cast<std::size_t>(key)] -
                                                        v_.ids[static_cast<std::size_t>(own)];
        const std::int64_t at = std::clamp(distance, -reach_, reach_) + reach_;
        const std::int64_t column = v_.rows[static_cast<std::size_t>(at)] - p.first;
        if (column < 0 || column >= p.columns) continue;
        to[j] = plus(to[j], scale * p.products[(p.by_key ? j : i) * kChunk + column]);
      }
    };
    if (places == 0 && ascends_by_one_ && !p.by_key) {
      // Between the clipped ends a row's vectors lie side by side.
      const std::int64_t shift = tile.first_key - own + reach_ - p.first;  // of key 0's column
      const std::int64_t least = std::max<std::int64_t>(0, p.first) - p.first;
      const std::int64_t most = std::min(p.columns, 2 * reach_ + 1 - p.first);
      const std::int64_t begin = std::clamp<std::int64_t>(least - shift, 0, tile.keys);
      const std::int64_t end = std::clamp<std::int64_t>(most - shift, begin, tile.keys);
      general(begin);
      for (; j < end; ++j) to[j] = plus(to[j], scale * p.products[i * kChunk + shift + j]);
    }
    general(tile.keys);
  }
}

void RelativeTiles::add(const ContentTerm::Tile& tile, float* scores, std::int64_t stride,
                        float* scratch) const noexcept {
  const std::int64_t n = tile.head_dim;
  float* shifted = scratch;
  float* products = scratch + kernels::kBlockLanes * n;
  const auto head_of = [&](const Tensor<float>& table) {
    return table.data() + (table.size(0) == 1 ? 0 : tile.head * n * columns_);
  };
  if (u_.count() > 0) {
    const auto scale = static_cast<float>(tile.scale);
    kernels::row_products({.a = tile.k,
                           .a_row = tile.k_stride,
                           .rows = tile.keys,
                           .steps = n,
                           .b = u_.data() + tile.head * n * kGroupLanes,
                           .b_step = kGroupLanes,
                           .columns = kGroupLanes,
                           .c = products,
                           .c_row = kGroupLanes});
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        float& to = scores[i * stride + j];
        to = plus(to, scale * products[j * kGroupLanes]);
      }
    }
  }
  const float* q = tile.q;
  std::int64_t q_stride = tile.q_stride;
  if (o_.count() > 0) {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t c = 0; c < n; ++c) {
        shifted[i * n + c] = q[i * q_stride + c] + o_.data()[tile.head * n + c];
      }
    }
    q = shifted;
    q_stride = n;
  }
  // The distances that come up, and their rows.
  std::int64_t least_query = tile.first_diagonal_key, most_query = least_query + tile.queries - 1;
  std::int64_t least_key = tile.first_key, most_key = least_key + tile.keys - 1;
  if (!v_.ids.empty()) {
    const auto places = static_cast<std::int64_t>(v_.ids.size());
    const std::int64_t first = std::max<std::int64_t>(least_query, 0);
    const std::int64_t last = std::min(most_query, places - 1);
    if (first > last) return;
    const auto keys =
        std::minmax_element(v_.ids.begin() + least_key, v_.ids.begin() + most_key + 1);
    const auto queries = std::minmax_element(v_.ids.begin() + first, v_.ids.begin() + last + 1);
    least_key = *keys.first;
    most_key = *keys.second;
    least_query = *queries.first;
    most_query = *queries.second;
  }
  const auto row_at = [&](std::int64_t distance) {
    const std::int64_t at = std::clamp(distance, -reach_, reach_) + reach_;
    return static_cast<std::int64_t>(v_.rows[static_cast<std::size_t>(at)]);
  };
  const std::int64_t one = row_at(least_key - most_query), other = row_at(most_key - least_query);
  const std::int64_t end = std::max(one, other) + 1;
  for (std::int64_t first = std::min(one, other) / kGroupLanes * kGroupLanes; first < end;
       first += kChunk) {
    const std::int64_t columns = std::min(kChunk, in_groups(end - first));
    if (e_.count() > 0) {
      add_products({tile, q, q_stride, tile.queries, false, head_of(e_), first, columns, scores,
                    stride, products});
    }
    if (g_.count() > 0) {
      add_products({tile, tile.k, tile.k_stride, tile.keys, true, head_of(g_), first, columns,
                    scores, stride, products});
    }
  }
}

}  // namespace sextant::detail
