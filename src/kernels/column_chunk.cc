// The tables of turns behind a sine table.
#include "kernels/column_chunk.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sextant {
namespace {

constexpr int kBlockBits = 6;
constexpr int kSpanBits = 12;
constexpr int kCoarseBits = 18;
constexpr std::size_t kMostCoarseRows =
    64;  // kept; the tasks make others when they come across them

double radians_of(const Turns& turns) noexcept {
  const auto top = static_cast<double>(turns.mantissa[3]);
  return 2 * std::numbers::pi *
         std::ldexp(top, static_cast<int>(std::max<std::int64_t>(turns.exponent, -2000)) - 64);
}

}  // namespace

ColumnChunk::ColumnChunk(const SineTable& table, std::int64_t begin, std::int64_t end)
    : table_(table),
      begin_(begin),
      end_(end),
      padded_((static_cast<std::size_t>(end - begin) + kColumnPadding - 1) / kColumnPadding *
              kColumnPadding),
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
  const auto row = static_cast<std::int64_t>(4 * padded_);
  for (Rows* rows : {&by_position_, &by_block_, &by_span_}) {
    rows->rows = Tensor<double>::uninitialized({64, row});
  }
}

// An exact row of the angle position * frequency; `with_phase` gives what columns show at that
// position, scaled.
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

void ColumnChunk::make(Rows& rows, std::int64_t index, std::int64_t positions_per_row) {
  if (rows.made[index]) return;
  rows.made[index] = true;
  double* row = rows.rows.data() + static_cast<std::size_t>(index) * 4 * padded_;
  if (index < 2) {
    make_exactly(index * positions_per_row, false, row);
    return;
  }
  const std::int64_t a = index % 2 == 0 ? index / 2 : index - 1;
  make(rows, a, positions_per_row);
  make(rows, index - a, positions_per_row);
  turn_exactly(rows.row(a, padded_), rows.row(index - a, padded_), row, padded_);
}

void ColumnChunk::prepare(const Positions& positions) {
  const auto need = [&](std::int64_t position, std::int64_t block, std::int64_t span) {
    make(by_position_, position, 1);
    make(by_block_, block, kBlock);
    make(by_span_, span, kSpan);
  };
  const auto add_coarse = [&](std::int64_t c) {
    if (coarse_positions_.size() < kMostCoarseRows &&
        (coarse_positions_.empty() || coarse_positions_.back() != c)) {
      coarse_positions_.push_back(c);
    }
  };
  if (positions.listed == nullptr && positions.count > 0) {
    // Consecutive: the tables fill from what the first positions of each kind need.
    const std::int64_t last = positions.first + positions.count - 1;
    for (std::int64_t p = positions.first; p <= std::min(last, positions.first + kBlock - 1); ++p)
      need(p & 63, 0, 0);
    const std::int64_t first_block = positions.first >> kBlockBits;
    for (std::int64_t a = first_block; a <= std::min(last >> kBlockBits, first_block + 63); ++a)
      need(0, a & 63, 0);
    const std::int64_t first_span = positions.first >> kSpanBits;
    for (std::int64_t s = first_span; s <= std::min(last >> kSpanBits, first_span + 63); ++s)
      need(0, 0, s & 63);
    for (std::int64_t c = positions.first >> kCoarseBits;
         c <= last >> kCoarseBits && coarse_positions_.size() < kMostCoarseRows; ++c) {
      add_coarse(c);
    }
  } else {
    for (std::int64_t row = 0; row < positions.count; ++row) {
      const std::int64_t p = positions[row];
      need(p & 63, p >> kBlockBits & 63, p >> kSpanBits & 63);
      add_coarse(p >> kCoarseBits);
    }
    std::sort(coarse_positions_.begin(), coarse_positions_.end());
    coarse_positions_.erase(std::unique(coarse_positions_.begin(), coarse_positions_.end()),
                            coarse_positions_.end());
  }
  coarse_rows_.resize(coarse_positions_.size() * 4 * padded_);
  for (std::size_t i = 0; i < coarse_positions_.size(); ++i) {
    make_exactly(coarse_positions_[i] * (std::int64_t{1} << kCoarseBits), true,
                 coarse_rows_.data() + i * 4 * padded_);
  }
}

void ColumnChunk::start_at(std::int64_t span, Start& start) const {
  if (start.valid && start.span == span) return;
  const std::int64_t c = span >> (kCoarseBits - kSpanBits);
  const auto row = static_cast<std::int64_t>(4 * padded_);
  if (!start.valid) {
    start.coarse = Tensor<double>::uninitialized({row});
    start.row = Tensor<double>::uninitialized({row});
  }
  if (!start.valid || start.span >> (kCoarseBits - kSpanBits) != c) {
    const auto found = std::lower_bound(coarse_positions_.begin(), coarse_positions_.end(), c);
    if (found != coarse_positions_.end() && *found == c) {
      const auto index = static_cast<std::size_t>(found - coarse_positions_.begin());
      std::copy_n(coarse_rows_.data() + index * 4 * padded_, 4 * padded_, start.coarse.data());
    } else {
      make_exactly(c * (std::int64_t{1} << kCoarseBits), true, start.coarse.data());
    }
  }
  turn_exactly(start.coarse.data(), by_span_.row(span & 63, padded_), start.row.data(), padded_);
  start.valid = true;
  start.span = span;
}

void ColumnChunk::set_guard(std::int64_t group, double* guard) const noexcept {
  // Below 1.5 rad a sine has not come back to zero and a cosine is above 0.07: the terms of a value
  // cancel by a factor of 200 at most, for the positions just below 0.
  const auto farthest = static_cast<double>(
      std::max(std::abs(group * kGroup), std::abs(group * kGroup + kGroup - 1)));
  const double limit = 1.5 / farthest;
  for (std::size_t i = 0; i < padded_; ++i) guard[i] = radians_[i] < limit ? kGuard : 0;
}

DoubleDouble ColumnChunk::exact_value(std::int64_t column, std::int64_t position) const noexcept {
  const SineColumn& shown = table_.columns[begin_ + column];
  if (shown.frequency < 0) return {};
  const SineAndCosine value = sine_and_cosine(table_.frequencies[shown.frequency], position);
  return (shown.cosine ? value.cos : value.sin) * DoubleDouble{table_.scale, 0};
}

}  // namespace sextant
