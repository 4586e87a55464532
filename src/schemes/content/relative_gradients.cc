// Gradients of learned vectors by distance in float32: the gradients of a tile's scores are summed
// by the vectors of their distances, then multiplied with rows and vectors.
#include <algorithm>

#include "kernels/attention/geometry.h"
#include "kernels/attention/row_products.h"
#include "schemes/content/relative_tiles.h"

namespace sextant::schemes_detail {
namespace {

using kernels::kKeyBlock;
using kernels::padded_width;

constexpr std::int64_t kLanes = kKeyBlock;  // the most rows of a tile, queries or keys

}  // namespace

// The gradients of a tile's scores summed by vector, for the queries or the keys of the tile.
struct RelativeTiles::Sums {
  const ScoreGradient<float>& tile;
  bool by_key;
  std::int64_t first, columns;  // the vectors
  const float* table;           // [head_dim, columns_], from vector `first` on
  float* of_vectors;            // [columns][lanes()]: sums for each row of the tile
  const float* rows;            // [rows of the tile][padded_width(head_dim)]
  float* products;
  double* drows;     // [rows of the tile, head_dim]
  double* dvectors;  // [columns, head_dim]
  double* dbias;     // [head_dim]: gradient of a vector that is added to the rows; may be null

  std::int64_t count() const noexcept { return by_key ? tile.keys : tile.queries; }
  std::int64_t lanes() const noexcept { return padded_width(count()); }
};

std::int64_t RelativeTiles::scratch_size() const noexcept {
  const std::int64_t n = v_.head_dim, padded = padded_width(n);
  const std::int64_t scores = kernels::kQueryBlock * n + kKeyBlock * kChunk;
  const std::int64_t gradients =
      kChunk * kLanes + kLanes * padded + std::max(n * kLanes, kChunk * padded);
  return std::max(scores, gradients);
}

void RelativeTiles::sum_by_vector(const Sums& s) const noexcept {
  const ScoreGradient<float>& tile = s.tile;
  const std::int64_t lanes = s.lanes(), last_query = tile.queries - 1;
  std::fill_n(s.of_vectors, s.columns * lanes, 0.0F);
  if (ids_jump_) {
    const auto id_count = static_cast<std::int64_t>(v_.ids.size());
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      const std::int64_t diagonal = tile.diagonal_key(i);
      if (diagonal < 0 || diagonal >= id_count) continue;  // no visible keys
      const std::int64_t query_id = v_.ids[static_cast<std::size_t>(diagonal)];
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        const std::int64_t key_id = v_.ids[static_cast<std::size_t>(tile.first_key + j)];
        const std::int64_t column = row_at(key_id - query_id) - s.first;
        if (column < 0 || column >= s.columns) continue;
        s.of_vectors[column * lanes + (s.by_key ? j : i)] += tile.dscores[i * tile.stride + j];
      }
    }
    return;
  }
  // Pairs of one diagonal have one vector: query i and key i + shift.
  const std::int64_t lowest = tile.first_key - tile.diagonal_key(0);
  for (std::int64_t shift = -last_query; shift < tile.keys; ++shift) {
    const std::int64_t column = row_at(lowest + shift) - s.first;
    if (column < 0 || column >= s.columns) continue;
    float* to = s.of_vectors + column * lanes + (s.by_key ? shift : 0);
    const float* from = tile.dscores + shift;
    const std::int64_t end = std::min(tile.queries, tile.keys - shift);
    for (std::int64_t i = std::max<std::int64_t>(0, -shift); i < end; ++i) {
      to[i] += from[i * (tile.stride + 1)];
    }
  }
}

// drows += scale sums^T vectors.
void RelativeTiles::add_to_rows(const Sums& s) const noexcept {
  const std::int64_t n = v_.head_dim, count = s.count();
  kernels::row_products({.a = s.table,
                         .a_row = columns_,
                         .rows = n,
                         .steps = s.columns,
                         .b = s.of_vectors,
                         .b_step = s.lanes(),
                         .columns = s.lanes(),
                         .c = s.products,
                         .c_row = s.lanes()});
  for (std::int64_t c = 0; c < n; ++c) {
    const float* product = s.products + c * s.lanes();
    double sum = 0;
    for (std::int64_t r = 0; r < count; ++r) {
      const double term = s.tile.scale * static_cast<double>(product[r]);
      s.drows[r * n + c] += term;
      sum += term;
    }
    if (s.dbias != nullptr) s.dbias[c] += sum;
  }
}

// dvectors += scale sums rows.
void RelativeTiles::add_to_vectors(const Sums& s) const noexcept {
  const std::int64_t n = v_.head_dim, padded = padded_width(n);
  kernels::row_products({.a = s.of_vectors,
                         .a_row = s.lanes(),
                         .rows = s.columns,
                         .steps = s.count(),
                         .b = s.rows,
                         .b_step = padded,
                         .columns = padded,
                         .c = s.products,
                         .c_row = padded});
  const std::int64_t vectors = std::min(s.columns, table_rows_ - s.first);
  for (std::int64_t r = 0; r < vectors; ++r) {
    for (std::int64_t c = 0; c < n; ++c) {
      s.dvectors[r * n + c] += s.tile.scale * static_cast<double>(s.products[r * padded + c]);
    }
  }
}

void RelativeTiles::content_bias_backward(const ScoreGradient<float>& tile,
                                          double* parameters) const noexcept {
  const std::int64_t n = v_.head_dim;
  const double* bias = v_.content_bias.data() + tile.head * n;
  double* dbias = parameters + tile.head * n;
  double sums[kLanes] = {};
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    const float* ds = tile.dscores + i * tile.stride;
    for (std::int64_t j = 0; j < tile.keys; ++j) sums[j] += static_cast<double>(ds[j]);
  }
  for (std::int64_t j = 0; j < tile.keys; ++j) {
    const double sum = tile.scale * sums[j];
    const float* key = tile.k + j * tile.k_stride;
    double* dkey = tile.dk + j * n;
    for (std::int64_t c = 0; c < n; ++c) {
      dkey[c] += sum * bias[c];
      dbias[c] += sum * static_cast<double>(key[c]);
    }
  }
}

void RelativeTiles::backward(const ScoreGradient<float>& tile,
                             const RelativeBegins& begins) const noexcept {
  const std::int64_t n = v_.head_dim, padded = padded_width(n);
  if (content_bias_.count() > 0) content_bias_backward(tile, tile.parameters + begins.content_bias);
  float* const of_vectors = tile.scratch;
  float* const rows = of_vectors + kChunk * kLanes;
  float* const products = rows + kLanes * padded;
  const Columns all = columns_of(tile);
  for (const bool by_key : {false, true}) {
    const Tensor<float>& table = by_key ? query_table_ : key_table_;
    if (table.count() == 0) continue;
    const std::int64_t of_head = table.size(0) == 1 ? 0 : tile.head;
    const std::int64_t table_rows = (by_key ? v_.query_table : v_.key_table).size(1);
    const float* bias = nullptr;  // added to the rows
    double* dbias = nullptr;
    if (!by_key && position_bias_.count() > 0) {
      bias = position_bias_.data() + tile.head * n;
      dbias = tile.parameters + begins.position_bias + tile.head * n;
    }
    const float* from = by_key ? tile.k : tile.q;
    const std::int64_t stride = by_key ? tile.k_stride : tile.q_stride;
    const std::int64_t count = by_key ? tile.keys : tile.queries;
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t c = 0; c < n; ++c) {
        rows[r * padded + c] = from[r * stride + c] + (bias != nullptr ? bias[c] : 0.0F);
      }
      std::fill_n(rows + r * padded + n, padded - n, 0.0F);
    }
    for (std::int64_t first = all.begin; first < all.end; first += kChunk) {
      const std::int64_t columns = std::min(kChunk, padded_width(all.end - first));
      const std::int64_t begin = by_key ? begins.query_table : begins.key_table;
      const Sums sums{.tile = tile,
                      .by_key = by_key,
                      .first = first,
                      .columns = columns,
                      .table = table.data() + of_head * n * columns_ + first,
                      .of_vectors = of_vectors,
                      .rows = rows,
                      .products = products,
                      .drows = by_key ? tile.dk : tile.dq,
                      .dvectors = tile.parameters + begin + (of_head * table_rows + first) * n,
                      .dbias = dbias};
      sum_by_vector(sums);
      add_to_rows(sums);
      add_to_vectors(sums);
    }
  }
}

}  // namespace sextant::schemes_detail
