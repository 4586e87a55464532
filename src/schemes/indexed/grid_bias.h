// A bias on a grid of rows x columns by the offset between two cells, one table per head: Swin's,
// Swin-v2's and ALiBi's in two dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "schemes/descriptors.h"
#include "schemes/indexed/position_runs.h"
#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant::schemes_detail {

// Cell id is row id / columns, column id % columns.
struct Grid {
  std::int64_t rows, columns;

  std::int64_t offsets() const noexcept { return (2 * rows - 1) * (2 * columns - 1); }
  // The number of the offset of query (r, c) from key (r', c'): (r - r' + rows - 1) (2 columns - 1)
  // + c - c' + columns - 1.
  std::int64_t offset(std::int64_t query, std::int64_t key) const noexcept {
    const std::int64_t query_row = row_of(query), key_row = row_of(key);
    return (query_row - key_row + rows - 1) * (2 * columns - 1) + query - key -
           (query_row - key_row) * columns + columns - 1;
  }
  // Cells are below 2^31, and a division of 32 bits takes half the time of one of 64.
  std::int64_t row_of(std::int64_t cell) const noexcept {
    return static_cast<std::uint32_t>(cell) / static_cast<std::uint32_t>(columns);
  }
};

inline constexpr IntegerRange kGridSide{1, 1 << 28};  // rows or columns

// Returns the grid of a scheme's `rows` and `columns`, both in kGridSide; unset: the smallest that
// holds all ids, square if both are unset. Throws Error("scheme.positions") if an id is outside,
// Error("scheme.heads"), and Error("scheme.rows") unless heads x offsets is at most 2^31.
Grid grid_of(std::string_view scheme, std::optional<std::int64_t> rows,
             std::optional<std::int64_t> columns, const PositionRuns& ids, std::int64_t heads);
// The same for the ids 0 .. cells - 1.
Grid grid_of(std::string_view scheme, std::optional<std::int64_t> rows,
             std::optional<std::int64_t> columns, std::int64_t cells, std::int64_t heads);
// The same where both must be given.
Grid given_grid(std::string_view scheme, std::optional<std::int64_t> rows,
                std::optional<std::int64_t> columns, std::int64_t heads);

// The cells of a grid whose sides are given; kAnyLength for one that grows with the text.
inline std::int64_t cells_of(std::optional<std::int64_t> rows,
                             std::optional<std::int64_t> columns) noexcept {
  return rows && columns ? *rows * *columns : kAnyLength;
}

// A number for the grid of that many cells, another for another grid: a Scheme's length_class.
inline std::int64_t class_of_grid(std::string_view scheme, std::optional<std::int64_t> rows,
                                  std::optional<std::int64_t> columns, std::int64_t cells,
                                  std::int64_t heads) {
  const Grid grid = grid_of(scheme, rows, columns, cells, heads);
  return (grid.rows << 29) + grid.columns;  // sides are 2^28 at most
}

class GridBias final : public ScoreTerm {
 public:
  // table: [offsets, heads], as Swin stores it; rounded to float32 once.
  GridBias(const Grid& grid, PositionRuns ids, View<const double> table, bool learns);

  void check(const CallExtents& call) const override;
  // Parameters by head and offset, [heads, offsets].
  TermNeeds needs() const override;
  void add(const ScoreTile<float>& tile) const noexcept override;
  void backward(const ScoreGradient<double>& tile) const noexcept override;

 private:
  // piece(offset, at, keys): offsets offset, offset - 1, ... at at, at + 1, ...
  template <class Piece, class Hide>
  void for_each_piece(const ScoreRect& tile, std::int64_t row_stride, Piece piece,
                      Hide hide) const noexcept;

  Grid grid_;
  PositionRuns ids_;
  std::int64_t heads_;
  // [heads, offsets], the last offset first: keys one after the other have offsets that fall.
  std::vector<float> reversed_;
  bool learns_;
};

// Returns the gradient of a table [offsets, heads] from the sums of attention_backward(), [1, heads
// x offsets]; throws Error("scheme.gradient") for another shape.
Tensor<double> grid_gradient(std::string_view scheme, const Grid& grid, std::int64_t heads,
                             View<const double> gradient);

}  // namespace sextant::schemes_detail
