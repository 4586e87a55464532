// Some columns of a sine table, ready to be turned to any integer position.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/sine_table.h"
#include "kernels/turn_columns.h"
#include "sextant/core/tensor.h"

namespace sextant {

// A position is split as p = 2^18 c + 2^12 n + 2^6 m + b. Turns by n * 2^12, m * 2^6 and b
// positions are three tables of 64 exact rows; those by c * 2^18 are made from the exact angle.
// Rows 1 come from exact angles too, all others by turning rows by rows, always along the same
// path, so that a value depends on its position and column alone.
class ColumnChunk {
 public:
  static constexpr std::int64_t kBlock = 64;          // positions of one anchor
  static constexpr std::int64_t kSpan = 4096;         // positions of one start row
  static constexpr std::int64_t kGroup = 4 * kBlock;  // positions that share a guard
  static constexpr std::int64_t kMaxColumns =
      512;  // three tables of 1 MiB; the busy half of one stays in the L2 cache

  // Columns [begin, end) of `table`, which must outlive this; the scale is that of the table.
  ColumnChunk(const SineTable& table, std::int64_t begin, std::int64_t end);

  // Makes the rows that these positions need; the rest of this class may be called from many
  // threads afterwards.
  void prepare(const Positions& positions);

  std::size_t padded() const noexcept { return padded_; }
  std::int64_t width() const noexcept { return end_ - begin_; }
  std::int64_t begin() const noexcept { return begin_; }
  const double* turns_by_position() const noexcept {
    return by_position_.rows.data();
  }  // 64 exact rows

  // The exact row of position kSpan * span (`row`, 4 * padded), scaled. Uses what `row` already
  // holds for another span.
  struct Start {
    bool valid = false;
    std::int64_t span = 0;
    Tensor<double> coarse;  // the exact row of 2^18 c
    Tensor<double> row;
  };
  void start_at(std::int64_t span, Start& start) const;
  // The turn from a start to its block m, 0 .. 63: an exact row.
  const double* turn_to_block(std::int64_t m) const noexcept { return by_block_.row(m, padded_); }

  // Which columns cannot cancel anywhere in positions [kGroup * group, kGroup * (group + 1)): sets
  // `guard`, padded.
  void set_guard(std::int64_t group, double* guard) const noexcept;

  // The exact value of a column, for repairs.
  DoubleDouble exact_value(std::int64_t column, std::int64_t position) const noexcept;

 private:
  struct Rows {
    Tensor<double> rows;  // [64, 4 * padded]
    std::array<bool, 64> made{};
    const double* row(std::int64_t i, std::size_t padded) const noexcept {
      return rows.data() + static_cast<std::size_t>(i) * 4 * padded;
    }
  };

  void make(Rows& rows, std::int64_t index, std::int64_t positions_per_row);
  void make_exactly(std::int64_t position, bool with_phase, double* row) const;

  const SineTable& table_;
  std::int64_t begin_;
  std::int64_t end_;
  std::size_t padded_;
  std::int32_t frequency_begin_ = 0;  // the frequencies that these columns use
  std::int32_t frequency_end_ = 0;
  std::vector<double> radians_;  // per column, for the guard
  Rows by_position_;
  Rows by_block_;
  Rows by_span_;
  std::vector<std::int64_t>
      coarse_positions_;  // sorted; their exact rows follow one another in coarse_rows_
  std::vector<double> coarse_rows_;
};

}  // namespace sextant
