// A bias on a grid by the offset between two cells.
#include "schemes/indexed/grid_bias.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/attention/bias_rows.h"
#include "schemes/distance/distances.h"
#include "schemes/ids/grid.h"
#include "sextant/core/error.h"

namespace sextant::schemes_detail {
namespace {

constexpr std::int64_t kMaxNumbers = std::int64_t{1} << 31;

std::string where(std::string_view scheme, std::string_view name) {
  return std::string(scheme) + "." + std::string(name);
}

}  // namespace

Grid grid_of(std::string_view scheme, std::optional<std::int64_t> rows,
             std::optional<std::int64_t> columns, const PositionRuns& ids, std::int64_t heads) {
  if (ids.min() < 0) {
    throw Error(where(scheme, "positions"),
                "must be cells of a grid, 0 .. 2^31 - 1, got " + std::to_string(ids.min()));
  }
  return grid_of(scheme, rows, columns, ids.max() + 1, heads);
}

Grid grid_of(std::string_view scheme, std::optional<std::int64_t> asked_rows,
             std::optional<std::int64_t> asked_columns, std::int64_t cells, std::int64_t heads) {
  check_range(kHeads, where(scheme, "heads"), heads);
  if (cells > kMaxNumbers) {
    throw Error(where(scheme, "positions"),
                "must be cells of a grid, 0 .. 2^31 - 1, got " + std::to_string(cells - 1));
  }
  std::int64_t rows = asked_rows.value_or(0), columns = asked_columns.value_or(0);
  if (!asked_rows && !asked_columns) rows = columns = min_side(cells);
  if (columns == 0) columns = std::max<std::int64_t>(1, (cells + rows - 1) / rows);
  if (rows == 0) rows = std::max<std::int64_t>(1, (cells + columns - 1) / columns);
  if (cells > rows * columns) {
    throw Error(where(scheme, "positions"), "must be 0 .. " + std::to_string(rows * columns - 1) +
                                                ", the cells of " + std::to_string(rows) + " x " +
                                                std::to_string(columns) + ", got " +
                                                std::to_string(cells - 1));
  }
  const Grid grid{rows, columns};
  if (grid.offsets() > kMaxNumbers / heads) {
    throw Error(where(scheme, "rows"),
                "must leave heads x (2 rows - 1) x (2 columns - 1) at most 2^31, got " +
                    std::to_string(rows) + " x " + std::to_string(columns) + " with " +
                    std::to_string(heads) + " heads");
  }
  return grid;
}

Grid given_grid(std::string_view scheme, std::optional<std::int64_t> rows,
                std::optional<std::int64_t> columns, std::int64_t heads) {
  if (!rows || !columns) throw Error(where(scheme, "rows"), "and columns must be given");
  return grid_of(scheme, rows, columns, 0, heads);
}

GridBias::GridBias(const Grid& grid, PositionRuns ids, View<const double> table, bool learns)
    : grid_(grid), ids_(std::move(ids)), heads_(table.size(1)), learns_(learns) {
  const std::int64_t offsets = grid_.offsets();
  reversed_.resize(static_cast<std::size_t>(heads_ * offsets));
  for (std::int64_t head = 0; head < heads_; ++head) {
    for (std::int64_t offset = 0; offset < offsets; ++offset) {
      reversed_[static_cast<std::size_t>(head * offsets + offsets - 1 - offset)] =
          rounded_bias(table(offset, head));
    }
  }
}

// Goes row by row of the grid: within one, keys' columns ascend and offsets fall by one. Ids in a
// tile may be outside the grid if the pair is not visible.
template <class Piece, class Hide>
void GridBias::for_each_piece(const ScoreRect& tile, std::int64_t row_stride, Piece piece,
                              Hide hide) const noexcept {
  for_each_run(
      ids_, tile, row_stride,
      [&](std::int64_t query, std::int64_t key, std::int64_t at, std::int64_t keys) {
        const std::int64_t cells = grid_.rows * grid_.columns;
        const std::int64_t end = at + keys;
        const bool query_inside = query >= 0 && query < cells;
        const std::int64_t before = query_inside ? std::clamp<std::int64_t>(-key, 0, keys) : keys;
        if (before > 0) hide(at, before);
        key += before;
        at += before;
        keys = std::min(end - at, std::max<std::int64_t>(cells - key, 0));
        if (keys > 0) {
          std::int64_t offset = grid_.offset(query, key);
          std::int64_t count = std::min(keys, (grid_.row_of(key) + 1) * grid_.columns - key);
          while (keys > 0) {
            piece(offset, at, count);
            at += count;
            keys -= count;
            // From a row's last column to the first of the next: a row on, columns - 1 back.
            offset -= count + grid_.columns - 1;
            count = std::min(keys, grid_.columns);
          }
        }
        if (at < end) hide(at, end - at);
      },
      hide);
}

void GridBias::check(const CallExtents& call) const {
  ids_.check_heads(call, heads_);
  ids_.check(call);
  if (!call.by_ids) return;
  const std::int64_t cells = grid_.rows * grid_.columns;
  for (const SequenceExtents& at : call.sequences) {
    if (at.seeing_queries.is_empty()) continue;
    const std::int64_t min = std::min(at.query_ids.first, at.key_ids.first);
    const std::int64_t max = std::max(at.query_ids.last, at.key_ids.last);
    if (min >= 0 && max < cells) continue;
    throw Error(std::string(ids_.scheme()), "must have a cell for each of the ids " +
                                                std::to_string(min) + " .. " + std::to_string(max) +
                                                " of the call, got the " + std::to_string(cells) +
                                                " cells of " + std::to_string(grid_.rows) + " x " +
                                                std::to_string(grid_.columns));
  }
}

void GridBias::add(const ScoreTile<float>& tile) const noexcept {
  float* scores = tile.scores;
  const auto hide = [&](std::int64_t at, std::int64_t keys) {
    std::fill_n(scores + at, keys, kHiddenScore);
  };
  const std::int64_t offsets = grid_.offsets();
  const float* last = reversed_.data() + tile.head * offsets + offsets - 1;
  kernels::RowList<kernels::BiasRow, decltype(&kernels::add_rows)> rows(&kernels::add_rows);
  for_each_piece(
      tile, tile.stride,
      [&](std::int64_t offset, std::int64_t at, std::int64_t keys) {
        rows.add({last - offset, scores + at, static_cast<std::int32_t>(keys), 1});
      },
      hide);
}

TermNeeds GridBias::needs() const { return {.parameters = learns_ ? heads_ * grid_.offsets() : 0}; }

void GridBias::backward(const ScoreGradient<double>& tile) const noexcept {
  if (!learns_) return;
  double* of_head = tile.parameters + tile.head * grid_.offsets();
  for_each_piece(
      tile, tile.stride,
      [&](std::int64_t offset, std::int64_t at, std::int64_t keys) {
        for (std::int64_t i = 0; i < keys; ++i) of_head[offset - i] += tile.dscores[at + i];
      },
      [](std::int64_t, std::int64_t) {});
}

Tensor<double> grid_gradient(std::string_view scheme, const Grid& grid, std::int64_t heads,
                             View<const double> gradient) {
  const std::int64_t offsets = grid.offsets();
  if (gradient.shape() != Shape({1, heads * offsets})) {
    throw Error(where(scheme, "gradient"), "must be [1, " + std::to_string(heads * offsets) +
                                               "], a number per head and offset, got " +
                                               gradient.shape().to_string());
  }
  Tensor<double> table({offsets, heads});
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t offset = 0; offset < offsets; ++offset) {
      table(offset, head) = gradient(std::int64_t{0}, head * offsets + offset);
    }
  }
  return table;
}

}  // namespace sextant::schemes_detail
