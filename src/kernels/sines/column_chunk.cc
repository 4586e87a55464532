// Computes the rows of angles of a sine table.
#include "kernels/sines/column_chunk.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace sextant::kernels {
namespace {

constexpr int kDigits = 6;
constexpr int kCoarseBits = 3 * kDigits;
constexpr std::int64_t kFineMask = (std::int64_t{1} << kCoarseBits) - 1;
constexpr std::size_t kMaxCoarseRows = 64;  // stored; tasks compute others when they need them

double radians_of(const Turns& turns) noexcept {
  const auto top = static_cast<double>(turns.mantissa[3]);
  return 2 * std::numbers::pi *
         std::ldexp(top, static_cast<int>(std::max<std::int64_t>(turns.exponent, -2000)) - 64);
}

}  // namespace

ColumnChunk::ColumnChunk(const SineTable& table, std::int64_t begin, std::int64_t end, bool exact)
    : table_(table),
      begin_(begin),
      end_(end),
      exact_(exact),
      padded_(padded_columns(static_cast<std::size_t>(end - begin))),
      radians_(padded_, 0.0) {
  frequency_begin_ = static_cast<std::int32_t>(table.frequencies.size());
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int32_t k = table.columns[i].frequency;
    if (k < 0) continue;
    radians_[i - begin] = radians_of(table.frequencies[k]);
    frequency_begin_ = std::min(frequency_begin_, k);
    frequency_end_ = std::max(frequency_end_, k + 1);
  }
  frequency_begin_ = std::min(frequency_begin_, frequency_end_);
  // One allocation for all: the C library reuses a block of this size for the next table, so that
  // only the first one touches fresh pages.
  const std::int64_t digit_rows = 8 * kDigits;
  const std::int64_t block_rows = exact ? kBlock : kBlock / 2;
  rows_ = Tensor<double>::uninitialized(
      {digit_rows + block_rows, static_cast<std::int64_t>(4 * padded_)});
  digit_rows_ = rows_.data();
  by_position_ = &rows_(digit_rows, 0);
}

// Computes an exact row of the angle position * frequency; `with_phase` gives the columns' values
// at that position, scaled.
void ColumnChunk::make_exactly(std::int64_t position, bool with_phase, double* row) const {
  std::fill_n(row, 4 * padded_, 0.0);
  // The sine and the cosine column of one frequency share its angle.
  std::vector<SineAndCosine> values(static_cast<std::size_t>(frequency_end_ - frequency_begin_));
  for (SineAndCosine& value : values) value.cos = {1, 0};
  for (std::int32_t k = frequency_begin_; k < frequency_end_ && position != 0; ++k) {
    values[k - frequency_begin_] = sine_and_cosine(table_.frequencies[k], position);
  }
  for (std::int64_t i = begin_; i < end_; ++i) {
    const SineColumn& column = table_.columns[i];
    if (column.frequency < 0) continue;
    SineAndCosine shown = values[column.frequency - frequency_begin_];
    if (with_phase) {
      if (column.cosine) shown = {shown.cos, -shown.sin};
      const DoubleDouble scale = {table_.scale, 0};
      shown = {shown.sin * scale, shown.cos * scale};
    }
    double* to = row + (i - begin_);
    to[0] = shown.sin.hi;
    to[padded_] = shown.cos.hi;
    to[2 * padded_] = shown.sin.lo;
    to[3 * padded_] = shown.cos.lo;
  }
}

void ColumnChunk::make_digits(int digits) {
  make_exactly(0, false, digit_row(0, 0));
  for (int digit = 0; digit < digits; ++digit) {
    // An angle's error grows with the position. From one exact row it stays below 2^-98 * 2^18:
    // enough for float32, which is recomputed from the exact angle near zeros, but float64 needs
    // 2^-94.
    if (digit == 0 || exact_) {
      make_exactly(std::int64_t{1} << (3 * digit), false, digit_row(digit, 1));
    } else {
      add_angles_exactly(angle_row(digit - 1, 7), angle_row(digit - 1, 1), digit_row(digit, 1),
                         padded_);
    }
    for (std::int64_t i = 2; i < 8; ++i) {
      const std::int64_t half = i % 2 == 0 ? i / 2 : 1;
      add_angles_exactly(angle_row(digit, i - half), angle_row(digit, half), digit_row(digit, i),
                         padded_);
    }
  }
}

void ColumnChunk::prepare(const Positions& positions) {
  std::uint64_t used = 0;       // bit b: some position is 64 a + b
  std::uint64_t fine_bits = 0;  // at least as wide as the widest position below 2^18
  const auto need = [&](std::int64_t p) {
    used |= std::uint64_t{1} << (p & (kBlock - 1));
    fine_bits |= static_cast<std::uint64_t>(p & kFineMask);
    const std::int64_t c = p >> kCoarseBits;
    if (coarse_positions_.size() < kMaxCoarseRows &&
        (coarse_positions_.empty() || coarse_positions_.back() != c)) {
      coarse_positions_.push_back(c);
    }
  };
  if (positions.listed == nullptr && positions.count > 0) {
    const std::int64_t last = positions.first + positions.count - 1;
    for (std::int64_t p = positions.first; p <= std::min(last, positions.first + kBlock - 1); ++p)
      need(p);
    for (std::int64_t c = (positions.first >> kCoarseBits) + 1;
         c <= last >> kCoarseBits && coarse_positions_.size() < kMaxCoarseRows; ++c) {
      need(c * (kFineMask + 1));
      fine_bits = kFineMask;
    }
    need(last);
  } else {
    for (std::int64_t row = 0; row < positions.count; ++row) need(positions[row]);
    std::sort(coarse_positions_.begin(), coarse_positions_.end());
    coarse_positions_.erase(std::unique(coarse_positions_.begin(), coarse_positions_.end()),
                            coarse_positions_.end());
  }
  make_digits((static_cast<int>(std::bit_width(fine_bits)) + 2) / 3);
  for (std::int64_t b = 0; b < kBlock; ++b) {
    if ((used >> b & 1) == 0) continue;
    double* row = by_position_ + static_cast<std::size_t>(b) * (exact_ ? 4 : 2) * padded_;
    (exact_ ? add_angles_exactly : add_angles_rounded)(angle_row(1, b >> 3), angle_row(0, b & 7),
                                                       row, padded_);
  }
  coarse_rows_ = Tensor<double>::uninitialized({static_cast<std::int64_t>(coarse_positions_.size()),
                                                static_cast<std::int64_t>(4 * padded_)});
  for (std::size_t i = 0; i < coarse_positions_.size(); ++i) {
    make_exactly(coarse_positions_[i] * (kFineMask + 1), true,
                 coarse_rows_.data() + i * 4 * padded_);
  }
}

const double* ColumnChunk::start_at(std::int64_t index, Start& start) const {
  const std::int64_t changed = start.valid ? start.index ^ index : -1;
  if (changed == 0) return start.rows[3];
  if (!start.valid) {
    start.storage = Tensor<double>::uninitialized({4, static_cast<std::int64_t>(4 * padded_)});
  }
  if (changed >> 9 != 0) {
    const std::int64_t c = index >> 9;
    const auto found = std::lower_bound(coarse_positions_.begin(), coarse_positions_.end(), c);
    if (found != coarse_positions_.end() && *found == c) {
      const auto row = static_cast<std::size_t>(found - coarse_positions_.begin());
      start.rows[0] = coarse_rows_.data() + row * 4 * padded_;
    } else {
      make_exactly(c * (kFineMask + 1), true, start.storage.data());
      start.rows[0] = start.storage.data();
    }
  }
  for (std::size_t i = 1; i < 4; ++i) {
    const int shift = 9 - 3 * static_cast<int>(i);
    if (changed >> shift == 0) continue;
    const std::int64_t value = index >> shift & 7;
    const double* before = start.rows[i - 1];
    double* row = start.storage.data() + i * 4 * padded_;
    if (value != 0)
      add_angles_exactly(before, angle_row(6 - static_cast<int>(i), value), row, padded_);
    start.rows[i] = value != 0 ? row : before;
  }
  start.valid = true;
  start.index = index;
  return start.rows[3];
}

void ColumnChunk::set_guard(std::int64_t group, double* guard) const noexcept {
  // Below 1.5 rad a sine has not come back to zero and a cosine is above 0.07: the terms of a value
  // cancel by a factor of 200 at most, for the positions just below 0.
  const auto max_position = static_cast<double>(
      std::max(std::abs(group * kGroup), std::abs(group * kGroup + kGroup - 1)));
  const double limit = 1.5 / max_position;
  for (std::size_t i = 0; i < padded_; ++i) guard[i] = radians_[i] < limit ? kGuard : 0;
}

DoubleDouble ColumnChunk::exact_value(std::int64_t column, std::int64_t position) const noexcept {
  const SineColumn& shown = table_.columns[begin_ + column];
  if (shown.frequency < 0) return {};
  const SineAndCosine value = sine_and_cosine(table_.frequencies[shown.frequency], position);
  return (shown.cosine ? value.cos : value.sin) * DoubleDouble{table_.scale, 0};
}

}  // namespace sextant::kernels
