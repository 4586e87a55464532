// Tables of sines and cosines of integer positions: anchors every 64 positions, and the angles of 0
// .. 63 positions added to them.
#include "kernels/sines/sine_table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "core/arrays/each_dtype.h"
#include "kernels/simd/float_rows.h"
#include "kernels/sines/angle_addition.h"
#include "kernels/sines/column_chunk.h"
#include "sextant/core/parallel.h"

namespace sextant::kernels {
namespace {

constexpr std::int64_t kBlock = ColumnChunk::kBlock;
constexpr std::int64_t kGroup = ColumnChunk::kGroup;

// Larger tables are written with non-temporal stores: that saves reading the lines first, and
// tables of this size do not stay in a cache anyway. Not the size that the processor reports:
// virtual machines show the cache of the whole socket.
constexpr std::int64_t kStreamBytes = std::int64_t{16} << 20;

// Rows of a task: enough to amortise the cost of a start, few enough to balance the load.
constexpr std::int64_t kTaskRows = 8 * kGroup;
constexpr std::int64_t kListedTaskRows = 64;

// The threshold of numbers that are multiplied before they are rounded to float32, which may double
// the error in units of the last place.
constexpr double kCancelledNarrow = 0x1p-14;

// The smallest one that is at least |scale|; 0 for 0.
double power_of_two_from(double scale) noexcept {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(scale), &exponent);
  return fraction == 0 ? 0 : std::ldexp(1, fraction == 0.5 ? exponent - 1 : exponent);
}

// Whether values are computed in double-double.
template <Floating T>
bool is_exact(const SineTable& table) noexcept {
  return std::is_same_v<T, double> && !table.narrow;
}

// The data of one task.
template <Floating T>
class RowWriter {
 public:
  RowWriter(const ColumnChunk& chunk, const SineTable& table, T* out, std::int64_t row_stride,
            bool stream)
      : chunk_(chunk),
        out_(out),
        row_stride_(row_stride),
        exact_(is_exact<T>(table)),
        stream_(stream),
        threshold_(power_of_two_from(table.scale) * (exact_         ? kCancelledFloat64
                                                     : table.narrow ? kCancelledNarrow
                                                                    : kCancelled)),
        anchors_(Tensor<double>::uninitialized({8, static_cast<std::int64_t>(chunk.padded())})),
        guard_(Tensor<double>::uninitialized({static_cast<std::int64_t>(chunk.padded())})),
        values_(Tensor<double>::uninitialized({static_cast<std::int64_t>(chunk.padded())})),
        found_(Tensor<std::int32_t>::uninitialized({static_cast<std::int64_t>(chunk.padded())})) {}

  // Rows of positions p .. p + count - 1, all in one block, from row `row` on.
  void block(std::int64_t row, std::int64_t p, std::int64_t count) {
    turn_to_anchors(p >> 6, 1);
    if constexpr (std::is_same_v<T, float>) {
      floats(row, p, static_cast<int>(count), 1);
    } else {
      for (std::int64_t i = 0; i < count; ++i) other_row(row + i, p + i);
    }
  }

  // Rows of the positions of one group, kGroup of them.
  void group(std::int64_t row, std::int64_t p) {
    if constexpr (std::is_same_v<T, float>) {
      turn_to_anchors(p >> 6, 4);
      floats(row, p, kBlock, 4);
    } else {
      for (std::int64_t i = 0; i < kGroup; i += kBlock) block(row + i, p + i, kBlock);
    }
  }

 private:
  // The anchors of `count` blocks from `block_index` on, and the guard of their group.
  void turn_to_anchors(std::int64_t block_index, std::int64_t count) {
    const std::size_t padded = chunk_.padded();
    if (group_ != block_index >> 2 || !has_group_)
      chunk_.set_guard(block_index >> 2, guard_.data());
    group_ = block_index >> 2;
    has_group_ = true;
    const double* start = chunk_.start_at(block_index >> 3, start_);
    for (std::int64_t i = 0; i < count; ++i) {
      const double* offset = chunk_.block_offset_row((block_index + i) & 7);
      double* anchor = anchors_.data() + static_cast<std::size_t>(i) * 2 * padded;
      (exact_ ? add_angles_exactly : add_angles_to_anchor)(start, offset, anchor, padded);
    }
  }

  // The rows of one anchor, or of all rows of four.
  void floats(std::int64_t row, std::int64_t p, int count, int anchor_count) {
    float* out = out_ + row * row_stride_ + chunk_.begin();
    const int b = static_cast<int>(p & 63);
    std::uint8_t cancelled[kBlock];
    float_sines_of_sums(
        anchors_.data(), anchor_count, chunk_.offset_row(0), b, b + count,
        {guard_.data(), threshold_},
        {out, row_stride_, kBlock, static_cast<std::size_t>(chunk_.width()), stream_},
        chunk_.padded(), cancelled);
    if (std::all_of(cancelled, cancelled + count, [](std::uint8_t found) { return found == 0; }))
      return;
    if (stream_) finish_streaming();  // the repairs are plain stores to streamed lines
    for (int i = 0; i < count; ++i) {
      for (int r = 0; cancelled[i] >> r != 0; ++r) {
        if ((cancelled[i] >> r & 1) == 0) continue;
        const double* anchor = anchors_.data() + static_cast<std::size_t>(r) * 2 * chunk_.padded();
        repair(row + r * kBlock + i, p + r * kBlock + i,
               find_cancellations(anchor, chunk_.offset_row(b + i), {guard_.data(), threshold_},
                                  found_.data(), chunk_.padded()));
      }
    }
  }

  void other_row(std::int64_t row, std::int64_t p) {
    const double* offset = chunk_.offset_row(p & 63);
    const CancellationTest cancellation = {guard_.data(), threshold_};
    const bool cancelled = (exact_ ? sines_of_exact_sums : sines_of_sums)(
        anchors_.data(), offset, cancellation, values_.data(), chunk_.padded());
    T* out = out_ + row * row_stride_ + chunk_.begin();
    for (std::int64_t i = 0; i < chunk_.width(); ++i) out[i] = static_cast<T>(values_.data()[i]);
    if (!cancelled) return;
    std::size_t count = 0;
    for (std::int32_t i = 0; i < chunk_.width(); ++i) {
      if (std::fabs(values_.data()[i]) + guard_.data()[i] < threshold_) found_.data()[count++] = i;
    }
    repair(row, p, count);
  }

  void repair(std::int64_t row, std::int64_t p, std::size_t count) {
    T* out = out_ + row * row_stride_ + chunk_.begin();
    // Padding columns show zeros, and a frequency of zero is always guarded.
    for (std::size_t i = 0; i < count && found_.data()[i] < chunk_.width(); ++i) {
      out[found_.data()[i]] = round_to<T>(chunk_.exact_value(found_.data()[i], p));
    }
  }

  const ColumnChunk& chunk_;
  T* out_;
  std::int64_t row_stride_;
  bool exact_;
  bool stream_;
  double threshold_;
  Tensor<double> anchors_;  // four rounded rows or two exact ones
  Tensor<double> guard_;
  Tensor<double> values_;
  Tensor<std::int32_t> found_;
  ColumnChunk::Start start_;
  std::int64_t group_ = 0;
  bool has_group_ = false;
};

template <Floating T>
void fill_consecutive(const ColumnChunk& chunk, const SineTable& table, const Positions& positions,
                      T* out, std::int64_t row_stride, bool stream, int threads) {
  const std::int64_t first = positions.first;
  const std::int64_t end = first + positions.count;
  const auto task_of = [](std::int64_t p) {
    return p >= 0 ? p / kTaskRows : -((-p + kTaskRows - 1) / kTaskRows);
  };
  const std::int64_t first_task = task_of(first);
  parallel_for(task_of(end - 1) - first_task + 1, threads, [&](std::int64_t task) {
    RowWriter<T> writer(chunk, table, out, row_stride, stream);
    const std::int64_t task_begin = (first_task + task) * kTaskRows;
    std::int64_t p = std::max(first, task_begin);
    const std::int64_t last = std::min(end, task_begin + kTaskRows);
    while (p < last) {
      if (p % kGroup == 0 && p + kGroup <= last) {
        writer.group(p - first, p);
        p += kGroup;
      } else {
        const std::int64_t count = std::min(last - p, kBlock - (p & (kBlock - 1)));
        writer.block(p - first, p, count);
        p += count;
      }
    }
    if (stream) finish_streaming();
  });
}

template <Floating T>
void fill_listed(const ColumnChunk& chunk, const SineTable& table, const Positions& positions,
                 T* out, std::int64_t row_stride, int threads) {
  const std::int64_t tasks = (positions.count + kListedTaskRows - 1) / kListedTaskRows;
  parallel_for(tasks, threads, [&](std::int64_t task) {
    RowWriter<T> writer(chunk, table, out, row_stride, false);
    std::int64_t row = task * kListedTaskRows;
    const std::int64_t end = std::min(positions.count, row + kListedTaskRows);
    while (row < end) {
      // A run of neighbours in one block costs one anchor.
      const std::int64_t p = positions[row];
      std::int64_t count = 1;
      while (row + count < end && positions[row + count] == p + count &&
             ((p + count) & (kBlock - 1)) != 0)
        ++count;
      writer.block(row, p, count);
      row += count;
    }
  });
}

// Whether no intermediate double overflows or underflows.
bool fits_doubles(const SineTable& table) noexcept {
  int exponent = 0;
  std::frexp(table.scale, &exponent);
  return std::abs(exponent) <= 64 &&
         std::all_of(table.frequencies.begin(), table.frequencies.end(),
                     [](const Turns& turns) { return turns.exponent > -800; });
}

template <Floating T>
bool can_stream(const Positions& positions, std::int64_t columns, const T* out,
                std::int64_t row_stride) noexcept {
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(T));
  return std::is_same_v<T, float> && positions.listed == nullptr && columns % kLine == 0 &&
         row_stride % kLine == 0 && reinterpret_cast<std::uintptr_t>(out) % 64 == 0 &&
         positions.count >= kStreamBytes / static_cast<std::int64_t>(sizeof(T)) / columns;
}

}  // namespace

template <Floating T>
void fill_sines(const SineTable& table, const Positions& positions, T* out, std::int64_t row_stride,
                int threads) {
  if (positions.count == 0) return;
  if (!fits_doubles(table)) {
    fill_sines_one_by_one(table, positions, positions.count, out, row_stride, threads);
    return;
  }
  const auto columns = static_cast<std::int64_t>(table.columns.size());
  const bool stream = can_stream(positions, columns, out, row_stride);
  for (std::int64_t begin = 0; begin < columns; begin += ColumnChunk::kMaxColumns) {
    ColumnChunk chunk(table, begin, std::min(columns, begin + ColumnChunk::kMaxColumns),
                      is_exact<T>(table));
    chunk.prepare(positions);
    if (positions.listed != nullptr) {
      fill_listed(chunk, table, positions, out, row_stride, threads);
    } else {
      fill_consecutive(chunk, table, positions, out, row_stride, stream, threads);
    }
  }
}

#define SEXTANT_INSTANTIATE(T) \
  template void fill_sines(const SineTable&, const Positions&, T*, std::int64_t, int);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels
