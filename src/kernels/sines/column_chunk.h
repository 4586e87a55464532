// Some columns of a sine table, with the rows from which any integer position is computed by angle
// addition.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/sines/angle_addition.h"
#include "kernels/sines/sine_table.h"
#include "sextant/core/tensor.h"

namespace sextant::kernels {

// A position is split as p = 2^18 c + n, n in six digits of three bits. Every digit has a table of
// eight exact rows: the angles of 0 .. 7 times its power of eight. The row of a multiple of 2^18 is
// computed from the exact angle, then digits are added one by one; the last two digits together are
// the 64 positions of a block. The path, and so the value, depends only on the position.
class ColumnChunk {
 public:
  static constexpr std::int64_t kBlock = 64;          // positions of one anchor
  static constexpr std::int64_t kGroup = 4 * kBlock;  // positions that share a guard
  static constexpr std::int64_t kMaxColumns =
      512;  // the 64 rounded rows are 512 KiB then: they stay in the L2 cache

  // Columns [begin, end) of `table`, which must outlive this; the scale is that of the table.
  // `exact` keeps the rows of a block in double-double, for float64.
  ColumnChunk(const SineTable& table, std::int64_t begin, std::int64_t end, bool exact);

  // Makes the rows that these positions need; the rest of this class may be called from many
  // threads afterwards.
  void prepare(const Positions& positions);

  std::size_t padded() const noexcept { return padded_; }
  std::int64_t width() const noexcept { return end_ - begin_; }
  std::int64_t begin() const noexcept { return begin_; }

  // The angles of 0 .. 63 positions: exact or rounded rows, one after another.
  const double* offset_row(std::int64_t positions) const noexcept {
    return by_position_ + static_cast<std::size_t>(positions) * (exact_ ? 4 : 2) * padded_;
  }
  // The angle from a start to its block m, 0 .. 7: an exact row.
  const double* block_offset_row(std::int64_t m) const noexcept { return angle_row(2, m); }

  // The exact rows of positions 2^18 c, then with the digits of 2^15, 2^12 and 2^9 added, scaled;
  // rows of the previous start are reused.
  struct Start {
    bool valid = false;
    std::int64_t index = 0;
    std::array<const double*, 4> rows{};
    Tensor<double> storage;  // [4, 4 * padded]
  };
  // Sets start.rows for position 512 * index and returns the last of them.
  const double* start_at(std::int64_t index, Start& start) const;

  // Which columns cannot cancel at any of positions [kGroup * group, kGroup * (group + 1)): sets
  // `guard`, padded.
  void set_guard(std::int64_t group, double* guard) const noexcept;

  // The exact value of a column, for repairs.
  DoubleDouble exact_value(std::int64_t column, std::int64_t position) const noexcept;

 private:
  double* digit_row(std::int64_t digit, std::int64_t value) noexcept {
    return digit_rows_ + static_cast<std::size_t>(8 * digit + value) * 4 * padded_;
  }
  const double* angle_row(std::int64_t digit, std::int64_t value) const noexcept {
    return digit_rows_ + static_cast<std::size_t>(value == 0 ? 0 : 8 * digit + value) * 4 * padded_;
  }
  void make_digits(int digits);
  void make_exactly(std::int64_t position, bool with_phase, double* row) const;

  const SineTable& table_;
  std::int64_t begin_;
  std::int64_t end_;
  bool exact_;
  std::size_t padded_;
  std::int32_t frequency_begin_ = 0;  // the frequencies that these columns use
  std::int32_t frequency_end_ = 0;
  std::vector<double> radians_;   // per column, for the guard
  Tensor<double> rows_;           // digit rows, then the rows of a block
  double* digit_rows_ = nullptr;  // [6, 8, 4 * padded]
  double* by_position_ = nullptr;
  std::vector<std::int64_t>
      coarse_positions_;        // sorted; their exact rows follow one another in coarse_rows_
  Tensor<double> coarse_rows_;  // [coarse_positions_, 4 * padded]
};

}  // namespace sextant::kernels
