// Decomposed relative positions: products of queries with two tables, by row and by column.
#include "sextant/schemes/content/decomposed_2d.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/attention/bias_rows.h"
#include "kernels/attention/geometry.h"
#include "schemes/content/decomposed_axis.h"
#include "schemes/content/decomposed_tokens.h"
#include "schemes/content/relative_vectors.h"
#include "schemes/definition.h"
#include "schemes/indexed/grid_bias.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

struct DecomposedTables {  // sizes from the shapes of the weights
  bool per_head = false;
};
constexpr IntegerRange kDecomposedSide{1, 1 << 12};

}  // namespace

template <>
inline constexpr auto kFields<Decomposed2d> = std::tuple{
    field(&Decomposed2d::rows, "rows", kDecomposedSide,
          "rows of patches; auto: the fewest that contain the largest id"),
    field(&Decomposed2d::columns, "columns", kDecomposedSide,
          "columns of patches; auto: the fewest that contain the largest id, a square if rows is "
          "auto too"),
    field(&Decomposed2d::pooling, "pooling", kDecomposedSide,
          "keys are pooled to (rows / pooling) x (columns / pooling) patches; they are then other "
          "tokens than the queries")
        .with_condition("divides rows and columns"),
    field(&Decomposed2d::query_pooling, "query_pooling", kDecomposedSide,
          "queries are pooled likewise; positions are then ids in their grid")
        .with_condition("1 if pooling is greater")};
template <>
inline constexpr auto kFields<DecomposedTables> = std::tuple{
    field(&DecomposedTables::per_head, "per_head", "tables per head; no: for all heads")};
template <>
inline constexpr auto kWeights<Decomposed2dWeights> = std::tuple{
    weight(&Decomposed2dWeights::row_table, "row_table", "[2 rows - 1, head_dim], or [heads, ...]",
           "by row of the query - row of the key + rows - 1; initially normal, standard deviation "
           "0.5"),
    weight(&Decomposed2dWeights::column_table, "column_table", "[2 columns - 1, head_dim] likewise",
           "by column of the query - column of the key + columns - 1; initially the same")};

namespace {

using kernels::kQueryBlock;
using schemes_detail::DecomposedAxis, schemes_detail::Grid, schemes_detail::kDecomposed;

// A whole image: with rows and columns.
schemes_detail::AxisPatches patches_of(const Decomposed2d& image, std::int64_t side) {
  return {.side = side, .query_step = image.query_pooling, .key_step = image.pooling};
}

class Decomposed2dTerm final : public ScoreTerm {
 public:
  Decomposed2dTerm(const Decomposed2d& image, std::span<const std::int64_t> ids,
                   const Decomposed2dWeights& weights)
      : rows_(patches_of(image, *image.rows), "row_table", weights.row_table),
        columns_(patches_of(image, *image.columns), "column_table", weights.column_table),
        tokens_(rows_, columns_, ids) {}

  void check(const CallExtents& call) const override {
    for (const DecomposedAxis* axis : {&rows_, &columns_}) {
      const std::int64_t heads = axis->table().size(0);
      if (axis->table().size(2) != call.head_dim || (heads != 1 && heads != call.heads)) {
        throw Error(kDecomposed, "must have tables for " + std::to_string(call.heads) +
                                     " heads of " + std::to_string(call.head_dim) +
                                     " channels, got " + axis->table().shape().to_string());
      }
    }
    tokens_.check(call);
  }
  TermNeeds needs() const override {
    return {.before_softcap = true,
            .q = true,
            .diagonal = !tokens_.are_pooled(),
            .scratch = kQueryBlock * (rows_.padded() + columns_.padded()) +
                       kQueryBlock * kernels::padded_width(rows_.table().size(2)) +
                       std::max(rows_.room(), columns_.room()),
            .parameters = rows_.table().count() + columns_.table().count()};
  }

  void add(const ScoreTile<float>& tile) const noexcept override {
    float *by_row = tile.scratch, *by_column = by_row + kQueryBlock * rows_.padded();
    multiply(tile, by_row, by_column);
    const auto add = [](const kernels::BiasRow* rows, std::int64_t count) {
      kernels::add_to_visible(rows, count, 1);
    };
    kernels::RowList<kernels::BiasRow, decltype(add)> list(add);
    tokens_.for_each_piece(tile, [&](std::int64_t i, std::int64_t j, std::int64_t keys,
                                     std::int64_t row, std::int64_t column) {
      float* to = tile.scores + i * tile.stride + j;
      const auto count = static_cast<std::int32_t>(keys);
      list.add({by_row + i * rows_.padded() + row, to, count, 0});
      list.add({by_column + i * columns_.padded() + column, to, count, 1});
    });
  }
  void add(const ScoreTile<double>& tile) const noexcept override {
    double *by_row = tile.scratch, *by_column = by_row + kQueryBlock * rows_.padded();
    multiply(tile, by_row, by_column);
    tokens_.for_each_piece(tile, [&](std::int64_t i, std::int64_t j, std::int64_t keys,
                                     std::int64_t row, std::int64_t column) {
      for (std::int64_t n = 0; n < keys; ++n) {
        tile.add(i, j + n,
                 by_row[i * rows_.padded() + row] + by_column[i * columns_.padded() + column + n]);
      }
    });
  }

  void backward(const ScoreGradient<double>& tile) const noexcept override {
    double *by_row = tile.scratch, *by_column = by_row + rows_.padded();
    std::int64_t last = -1;
    const auto finish = [&](std::int64_t query) {
      if (query < 0) return;
      rows_.backward(tile, query, by_row, tile.parameters);
      columns_.backward(tile, query, by_column, tile.parameters + rows_.table().count());
    };
    tokens_.for_each_piece(tile, [&](std::int64_t i, std::int64_t j, std::int64_t keys,
                                     std::int64_t row, std::int64_t column) {
      if (i != last) {
        finish(last);
        std::fill_n(by_row, rows_.padded() + columns_.padded(), 0.0);
        last = i;
      }
      const double* ds = tile.dscores + i * tile.stride + j;
      for (std::int64_t n = 0; n < keys; ++n) {
        by_row[row] += ds[n];
        by_column[column + n] += ds[n];
      }
    });
    finish(last);
  }

  void backward(const ScoreGradient<float>& tile) const noexcept override {
    const auto [rows, columns] = offsets_of(tile);
    if (rows.is_empty()) return;
    float *by_row = tile.scratch, *by_column = by_row + kQueryBlock * rows_.padded();
    float* const q = by_column + kQueryBlock * columns_.padded();
    const std::int64_t width = kernels::padded_width(tile.head_dim);
    float* const room = q + kQueryBlock * width;
    const auto clear = [](float* sums, schemes_detail::Offsets of) {
      std::fill_n(sums + of.begin * kQueryBlock, of.count() * kQueryBlock, 0.0F);
    };
    clear(by_row, rows);
    clear(by_column, columns);
    tokens_.for_each_piece(tile, [&](std::int64_t i, std::int64_t j, std::int64_t keys,
                                     std::int64_t row, std::int64_t column) {
      const float* ds = tile.dscores + i * tile.stride + j;
      float sum = 0;
      for (std::int64_t n = 0; n < keys; ++n) {
        sum += ds[n];
        by_column[(column + n) * kQueryBlock + i] += ds[n];
      }
      by_row[row * kQueryBlock + i] += sum;
    });
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      std::copy_n(tile.q + i * tile.q_stride, tile.head_dim, q + i * width);
      std::fill_n(q + i * width + tile.head_dim, width - tile.head_dim, 0.0F);
    }
    rows_.backward(tile, rows, by_row, q, room, tile.parameters);
    columns_.backward(tile, columns, by_column, q, room, tile.parameters + rows_.table().count());
  }

 private:
  // Those that occur in a rectangle, of both axes.
  std::pair<schemes_detail::Offsets, schemes_detail::Offsets> offsets_of(
      const ScoreRect& rect) const noexcept {
    auto rows = rows_.no_offsets(), columns = columns_.no_offsets();
    tokens_.for_each_piece(rect, [&](std::int64_t, std::int64_t, std::int64_t keys,
                                     std::int64_t row, std::int64_t column) {
      rows.add(row, row + 1);
      columns.add(column, column + keys);
    });
    return {rows, columns};
  }
  // The products with their vectors.
  template <class Real>
  void multiply(const ScoreTile<Real>& tile, Real* by_row, Real* by_column) const noexcept {
    const auto [rows, columns] = offsets_of(tile);
    if (rows.is_empty()) return;
    rows_.multiply(tile, rows, by_row);
    columns_.multiply(tile, columns, by_column);
  }

  DecomposedAxis rows_, columns_;
  schemes_detail::DecomposedTokens tokens_;
};

void check_pooling(const char* name, std::int64_t pooling, const Decomposed2d& image) {
  for (const std::optional<std::int64_t> side : {image.rows, image.columns}) {
    if (!side || *side % pooling == 0) continue;
    throw Error(name, "must divide rows and columns, got " + std::to_string(pooling) + " for " +
                          std::to_string(*side));
  }
}

// The options with the rows and columns of the image whose queries have the ids 0 .. cells - 1.
Decomposed2d image_of(Decomposed2d image, std::int64_t cells) {
  const std::int64_t step = image.query_pooling;
  if (step > 1 && image.pooling > 1) {
    throw Error("decomposed_2d.query_pooling", "must be 1 with a pooling of " +
                                                   std::to_string(image.pooling) + ", got " +
                                                   std::to_string(step));
  }
  check_pooling("decomposed_2d.query_pooling", step, image);
  const auto queries = [&](std::optional<std::int64_t> side) { return side ? *side / step : side; };
  const Grid grid =
      schemes_detail::grid_of(kDecomposed, queries(image.rows), queries(image.columns), cells, 1);
  image.rows = grid.rows * step;
  image.columns = grid.columns * step;
  check_range(kDecomposedSide, "decomposed_2d.rows", *image.rows);
  check_range(kDecomposedSide, "decomposed_2d.columns", *image.columns);
  check_pooling("decomposed_2d.pooling", image.pooling, image);
  return image;
}
Decomposed2d image_of(const Decomposed2d& options, std::span<const std::int64_t> ids) {
  std::int64_t cells = 0;
  for (const std::int64_t id : ids) {
    if (id < -1) {
      throw Error("decomposed_2d.positions",
                  "must be patches of an image, 0, 1, ..., or -1, got " + std::to_string(id));
    }
    cells = std::max(cells, id + 1);
  }
  return image_of(options, cells);
}

}  // namespace

std::shared_ptr<const ScoreTerm> decomposed_2d(const Decomposed2d& options,
                                               const Decomposed2dWeights& weights,
                                               std::span<const std::int64_t> positions) {
  check_fields(kDecomposed, options);
  const std::vector<std::int64_t> ids = schemes_detail::checked_ids(kDecomposed, positions);
  return std::make_shared<const Decomposed2dTerm>(image_of(options, ids), ids, weights);
}

Decomposed2dWeights decomposed_2d_backward(const Decomposed2dWeights& weights,
                                           View<const double> gradient) {
  std::int64_t at = 0;
  Decomposed2dWeights sums;
  sums.row_table =
      schemes_detail::take_gradient(kDecomposed, gradient, at, weights.row_table.shape());
  sums.column_table =
      schemes_detail::take_gradient(kDecomposed, gradient, at, weights.column_table.shape());
  return sums;
}

namespace descriptors {
namespace {

using OfImage = Given<Decomposed2d, DecomposedTables>;

Decomposed2d image_of(const OfImage& of) { return sextant::image_of(of, of.ids()); }

constexpr Definition<Decomposed2dWeights, Decomposed2d, DecomposedTables> kDefinition = {
    .name = "decomposed_2d",
    .title = "decomposed 2D",
    .kind = SchemeKind::content,
    .idea =
        "Multiplies queries with a learned vector for the rows between two patches, and one "
        "for the columns.",
    .paper = "Li et al. 2022, 2112.01526; Kirillov et al. 2023, 2304.02643",
    .sizes = [](const OfImage& of) -> WeightSizes {
      const Decomposed2d image = image_of(of);
      const std::int64_t head_dim = schemes_detail::head_dim_of(kDecomposed, of.request);
      std::vector rows{2 * *image.rows - 1, head_dim}, columns{2 * *image.columns - 1, head_dim};
      if (of.per_head) {
        rows.insert(rows.begin(), of.request.heads);
        columns.insert(columns.begin(), of.request.heads);
      }
      return {{"row_table", rows}, {"column_table", columns}};
    },
    .initial =
        [](const OfImage&, InitialWeights& to) {
          to.normal("row_table", 0.5);
          to.normal("column_table", 0.5);
        },
    .make = [](const OfImage& of, const auto& weights) -> SchemeTable {
      return decomposed_2d(image_of(of), weights, of.ids());
    },
    .backward = [](const OfImage&, const auto& weights,
                   auto gradient) { return decomposed_2d_backward(weights, gradient); },
    .length_class =
        [](const OfImage& of, std::int64_t length) {
          const Decomposed2d image = sextant::image_of(of, length);
          return schemes_detail::class_of_grid(kDecomposed, image.rows, image.columns, 0, 1);
        },
    .max_length =
        [](const OfImage& of) {
          const Decomposed2d image = image_of(of);
          const std::int64_t step = image.pooling * image.query_pooling;  // the smaller grid
          return (*image.rows / step) * (*image.columns / step);
        },
};

}  // namespace

constinit const Scheme kDecomposed2d = scheme_of<kDecomposed2d, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
