// Sums of two angles by the kernels of sine tables: a run of neighbours of one axis at one id of
// the other is one anchor and the angles added to it.
#include "schemes/rotated/mixed_angles.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "kernels/simd/float_rows.h"
#include "kernels/sines/angle_addition.h"
#include "kernels/sines/turns.h"
#include "schemes/indexed/distinct_ids.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

using kernels::SineAndCosine, kernels::kColumnPadding;

constexpr std::int64_t kBlock = 64;       // rows of one call of the kernel
constexpr std::int64_t kTaskRows = 512;   // a multiple of it
constexpr std::int64_t kMaxRows = 16384;  // distinct ids with precomputed rows
// See sine_table.cc: below these a value whose terms cancelled is made again.
constexpr double kCancelled = 0x1p-15;
constexpr double kCancelledFloat64 = 0x1p-35;

SineAndCosine signed_sine(double frequency, std::int64_t position) noexcept {
  SineAndCosine value =
      kernels::sine_and_cosine(kernels::turns_of(WideFloat(std::fabs(frequency))), position);
  if (frequency < 0) value.sin = -value.sin;
  return value;
}

// Of position_x x + position_y y, whatever cancels.
SineAndCosine exact_value(double x, std::int64_t position_x, double y,
                          std::int64_t position_y) noexcept {
  const WideFloat angle = WideFloat(x) * WideFloat(static_cast<double>(position_x)) +
                          WideFloat(y) * WideFloat(static_cast<double>(position_y));
  SineAndCosine value = kernels::sine_and_cosine(
      kernels::turns_of(angle.is_negative() ? -angle : angle), std::int64_t{1});
  if (angle.is_negative()) value.sin = -value.sin;
  return value;
}

// The sines and cosines of every distinct id times every frequency of an axis: exact rows, and
// rounded ones in the form of the kernels.
struct AxisRows {
  std::size_t padded;
  Tensor<double> exact;    // [ids, sin | cos | low half of sin | low half of cos]
  Tensor<double> rounded;  // [ids, sin | cos]
  Tensor<double> ahead;    // [ids, cos | -sin]: a quarter turn further, for tables of cosines

  const double* exact_row(std::int64_t i) const {
    return exact.data() + i * 4 * static_cast<std::int64_t>(padded);
  }
};

void set_exactly(std::span<const double> frequencies, std::int64_t id, double* row,
                 std::size_t padded) {
  std::fill_n(row, 4 * padded, 0.0);
  for (std::size_t k = 0; k < frequencies.size(); ++k) {
    const SineAndCosine value = signed_sine(frequencies[k], id);
    row[k] = value.sin.hi;
    row[padded + k] = value.cos.hi;
    row[2 * padded + k] = value.sin.lo;
    row[3 * padded + k] = value.cos.lo;
  }
}

AxisRows rows_of(std::span<const double> frequencies, const DistinctIds& ids) {
  AxisRows rows;
  const std::size_t padded =
      (frequencies.size() + kColumnPadding - 1) / kColumnPadding * kColumnPadding;
  const auto width = static_cast<std::int64_t>(padded);
  rows.padded = padded;
  rows.exact = Tensor<double>::uninitialized({ids.count, 4 * width});
  rows.rounded = Tensor<double>::uninitialized({ids.count, 2 * width});
  rows.ahead = Tensor<double>::uninitialized({ids.count, 2 * width});
  Tensor<double> one = Tensor<double>::uninitialized({4 * width});
  set_exactly(frequencies, 1, one.data(), padded);
  for (std::int64_t i = 0; i < ids.count; ++i) {
    double* row = rows.exact.data() + i * 4 * width;
    // Neighbours are one step on; the error of 64 steps stays below 2^-95.
    if (i % kBlock != 0 && ids[i] == ids[i - 1] + 1) {
      kernels::add_angles_exactly(row - 4 * width, one.data(), row, padded);
    } else {
      set_exactly(frequencies, ids[i], row, padded);
    }
    double* rounded = rows.rounded.data() + i * 2 * width;
    double* ahead = rows.ahead.data() + i * 2 * width;
    for (std::size_t k = 0; k < padded; ++k) {
      rounded[k] = row[k];
      rounded[padded + k] = ahead[k] = row[padded + k];
      ahead[padded + k] = -row[k];
    }
  }
  return rows;
}

template <Floating T>
class MixedWriter {
 public:
  MixedWriter(std::span<const double> x, std::span<const double> y, View<const std::int64_t> ids)
      : x_(x),
        y_(y),
        ids_(ids),
        padded_((x.size() + kColumnPadding - 1) / kColumnPadding * kColumnPadding),
        guard_({static_cast<std::int64_t>(padded_)}) {
    std::vector<std::int64_t> of_x;
    std::vector<std::int64_t> of_y;
    for (std::int64_t row = 0; row < ids.size(0); ++row) {
      of_x.push_back(ids(row, 0));
      of_y.push_back(ids(row, 1));
    }
    ids_x_ = DistinctIds(std::move(of_x));
    ids_y_ = DistinctIds(std::move(of_y));
    // Columns that show nothing, or zero angles.
    for (std::size_t k = 0; k < padded_; ++k) {
      guard_.data()[k] = k >= x.size() || (x[k] == 0 && y[k] == 0) ? kernels::kGuard : 0;
    }
    has_rows_ = ids_x_.count <= kMaxRows && ids_y_.count <= kMaxRows;
    if (!has_rows_) return;
    rows_x_ = rows_of(x, ids_x_);
    rows_y_ = rows_of(y, ids_y_);
  }

  void write(std::int64_t begin, std::int64_t end, T* cos, T* sin) const {
    if (!has_rows_) {
      for (std::int64_t row = begin; row < end; ++row) write_exactly(row, cos, sin);
      return;
    }
    Tensor<double> values = Tensor<double>::uninitialized({static_cast<std::int64_t>(padded_)});
    Tensor<double> ahead = Tensor<double>::uninitialized({static_cast<std::int64_t>(4 * padded_)});
    while (begin < end) {
      const std::int64_t from = ids_x_.index_of(ids_(begin, 0));
      std::int64_t count = 1;
      while (begin + count < end && count < kBlock && from + count < ids_x_.count &&
             ids_(begin + count, 1) == ids_(begin, 1) &&
             ids_(begin + count, 0) == ids_x_[from + count])
        ++count;
      const std::int64_t anchor = ids_y_.index_of(ids_(begin, 1));
      for (const bool cosine : {false, true}) {
        T* out = (cosine ? cos : sin) + begin * pairs();
        write_run(begin, count, from, anchor, cosine, out, values.data(), ahead.data());
      }
      begin += count;
    }
  }

 private:
  std::int64_t pairs() const noexcept { return static_cast<std::int64_t>(x_.size()); }

  void write_run(std::int64_t row, std::int64_t count, std::int64_t from, std::int64_t anchor,
                 bool cosine, T* out, double* values, double* ahead) const {
    const auto width = static_cast<std::int64_t>(padded_);
    if constexpr (std::is_same_v<T, float>) {
      const double* anchors =
          (cosine ? rows_y_.ahead : rows_y_.rounded).data() + anchor * 2 * width;
      std::uint8_t suspicious[kBlock];
      kernels::float_sines_of_sums(anchors, 1, rows_x_.rounded.data(), static_cast<int>(from),
                                   static_cast<int>(from + count), {guard_.data(), kCancelled},
                                   {out, pairs(), kBlock, x_.size(), false}, padded_, suspicious);
      for (std::int64_t i = 0; i < count; ++i) {
        if (suspicious[i] != 0) repair(row + i, cosine, kCancelled, out + i * pairs());
      }
    } else {
      constexpr bool kIsDouble = std::is_same_v<T, double>;
      const double* exact = rows_y_.exact_row(anchor);
      if (cosine) {
        for (std::int64_t k = 0; k < width; ++k) {
          ahead[k] = exact[width + k];
          ahead[width + k] = -exact[k];
          ahead[2 * width + k] = exact[3 * width + k];
          ahead[3 * width + k] = -exact[2 * width + k];
        }
        exact = ahead;
      }
      const double threshold = kIsDouble ? kCancelledFloat64 : kCancelled;
      for (std::int64_t i = 0; i < count; ++i) {
        const double* offset = rows_x_.exact_row(from + i);
        const kernels::CancellationTest cancellation = {guard_.data(), threshold};
        const bool found =
            kIsDouble ? kernels::sines_of_exact_sums(exact, offset, cancellation, values, padded_)
                      : kernels::sines_of_sums(exact, offset, cancellation, values, padded_);
        T* to = out + i * pairs();
        for (std::int64_t k = 0; k < pairs(); ++k) to[k] = static_cast<T>(values[k]);
        if (found) repair(row + i, cosine, threshold, to);
      }
    }
  }

  // Small values of a row, made again from the exact sum of the angles.
  void repair(std::int64_t row, bool cosine, double threshold, T* out) const {
    for (std::size_t k = 0; k < x_.size(); ++k) {
      if (guard_.data()[k] != 0 || std::fabs(static_cast<double>(out[k])) > 2 * threshold) continue;
      const SineAndCosine value = exact_value(x_[k], ids_(row, 0), y_[k], ids_(row, 1));
      out[k] = kernels::round_to<T>(cosine ? value.cos : value.sin);
    }
  }

  void write_exactly(std::int64_t row, T* cos, T* sin) const {
    for (std::size_t k = 0; k < x_.size(); ++k) {
      const SineAndCosine value = exact_value(x_[k], ids_(row, 0), y_[k], ids_(row, 1));
      cos[row * pairs() + static_cast<std::int64_t>(k)] = kernels::round_to<T>(value.cos);
      sin[row * pairs() + static_cast<std::int64_t>(k)] = kernels::round_to<T>(value.sin);
    }
  }

  std::span<const double> x_, y_;
  View<const std::int64_t> ids_;
  std::size_t padded_;
  Tensor<double> guard_;
  DistinctIds ids_x_, ids_y_;
  bool has_rows_ = false;
  AxisRows rows_x_, rows_y_;
};

}  // namespace

template <Floating T>
void fill_mixed(std::span<const double> x, std::span<const double> y, View<const std::int64_t> ids,
                T* cos, T* sin, int threads) {
  const std::int64_t rows = ids.size(0);
  const MixedWriter<T> writer(x, y, ids);
  parallel_for((rows + kTaskRows - 1) / kTaskRows, threads, [&](std::int64_t task) {
    writer.write(task * kTaskRows, std::min(rows, (task + 1) * kTaskRows), cos, sin);
  });
}

#define SEXTANT_INSTANTIATE(T)                                               \
  template void fill_mixed(std::span<const double>, std::span<const double>, \
                           View<const std::int64_t>, T*, T*, int);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(bfloat16)
SEXTANT_INSTANTIATE(float16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
