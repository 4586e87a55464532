// Angles of two axes: those of an axis are made once for each id that occurs, and added in every
// row.
#include "schemes/rotated/plane_rotation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/arrays/each_dtype.h"
#include "core/numbers/wide_float.h"
#include "core/threads/interruption.h"
#include "kernels/simd/float_rows.h"
#include "kernels/sines/angle_addition.h"
#include "kernels/sines/sine_table.h"
#include "kernels/sines/turns.h"
#include "schemes/indexed/distinct_ids.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

constexpr std::int64_t kRows = std::int64_t{1} << 14;  // whose angles are kept at a time
constexpr std::int64_t kTaskRows = 64;
constexpr std::int64_t kBlock = 64;  // ids that share an exact row

using Frequencies = std::span<const double>;

DistinctIds ids_of(View<const std::int64_t> ids, std::int64_t axis) {
  std::vector<std::int64_t> of_axis(static_cast<std::size_t>(ids.size(0)));
  for (std::int64_t row = 0; row < ids.size(0); ++row) of_axis[row] = ids(row, axis);
  return DistinctIds(std::move(of_axis));
}

std::size_t columns_of(Frequencies frequencies) {
  return (frequencies.size() + kernels::kColumnPadding - 1) / kernels::kColumnPadding *
         kernels::kColumnPadding;
}

// Aligned, as the kernels need them.
Tensor<double> new_rows(std::size_t rows, std::size_t width) {
  return Tensor<double>::uninitialized(
      {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(width)});
}

// Makes the exact rows (kernels/sines/angle_addition.h) of one axis: of multiples of 64, plus those
// of 0 .. 63, so that the row of an id is the same whichever others occur.
class AxisAngles {
 public:
  explicit AxisAngles(Frequencies frequencies)
      : frequencies_(frequencies),
        columns_(columns_of(frequencies)),
        steps_(new_rows(kBlock, stride())) {
    for (const double frequency : frequencies) {
      turns_.push_back(kernels::turns_of(WideFloat(std::fabs(frequency))));
    }
    fill(0, false, steps_.data());
    fill(1, false, steps_.data() + stride());
    for (std::size_t i = 2; i < kBlock; ++i) {
      double* row = steps_.data() + i * stride();
      kernels::add_angles_exactly(row - stride(), steps_.data() + stride(), row, columns_);
    }
  }

  // Rows of the ids; `kept`: all four parts or the two rounded ones; `cosines`: columns show
  // cosines instead of sines.
  Tensor<double> rows(const DistinctIds& ids, std::size_t kept, bool cosines) const {
    Tensor<double> made = new_rows(static_cast<std::size_t>(ids.count), kept * columns_);
    Tensor<double> start = new_rows(1, stride()), row = new_rows(1, stride());
    for (std::int64_t i = 0; i < ids.count; ++i) {
      const std::int64_t id = ids[i];
      if (i == 0 || id >> 6 != ids[i - 1] >> 6) fill(id >> 6 << 6, cosines, start.data());
      kernels::add_angles_exactly(start.data(),
                                  steps_.data() + static_cast<std::size_t>(id & 63) * stride(),
                                  row.data(), columns_);
      std::copy_n(row.data(), kept * columns_,
                  made.data() + static_cast<std::size_t>(i) * kept * columns_);
    }
    return made;
  }

 private:
  std::size_t stride() const { return 4 * columns_; }
  void fill(std::int64_t id, bool cosines, double* row) const {
    std::fill_n(row, stride(), 0.0);
    std::fill_n(row + columns_, columns_, 1.0);
    for (std::size_t k = 0; k < frequencies_.size(); ++k) {
      kernels::SineAndCosine value{{0, 0}, {1, 0}};
      if (id != 0) value = kernels::sine_and_cosine(turns_[k], id);
      if (frequencies_[k] < 0) value.sin = -value.sin;
      if (cosines) value = {value.cos, -value.sin};
      row[k] = value.sin.hi;
      row[columns_ + k] = value.cos.hi;
      row[2 * columns_ + k] = value.sin.lo;
      row[3 * columns_ + k] = value.cos.lo;
    }
  }

  Frequencies frequencies_;
  std::size_t columns_;
  std::vector<kernels::Turns> turns_;
  Tensor<double> steps_;  // [64, 4 columns]
};

// What the rows of one table are made from.
template <Floating T>
struct Plane {
  static constexpr bool kExact = std::is_same_v<T, double>;
  static constexpr std::size_t kParts = kExact ? 4 : 2;
  // Below it a value may have cancelled and is computed from the exact angle, as in sine_table.cc.
  static constexpr double kCancelled = kExact ? 0x1p-35 : 0x1p-15;

  Frequencies x, y;
  View<const std::int64_t> ids;
  DistinctIds x_ids = ids_of(ids, 0), y_ids = ids_of(ids, 1);
  std::size_t columns = columns_of(x);
  Tensor<double> guard, steps, sines, cosines;  // of columns, and [ids, parts, columns]

  void fill(std::int64_t first, std::int64_t end, bool cosine, T* out) const {
    const auto pairs = static_cast<std::int64_t>(x.size());
    const Tensor<double>& anchors = cosine ? cosines : sines;
    Tensor<double> values = new_rows(1, columns);
    std::uint8_t cancelled[kTaskRows];
    for (std::int64_t row = first, count = 0; row < end; row += count) {
      const double* anchor = at(anchors, y_ids.index_of(ids(row, 1)));
      const std::int64_t index = x_ids.index_of(ids(row, 0));
      count = run_at(row, end);
      if constexpr (std::is_same_v<T, float>) {
        kernels::float_sines_of_sums(
            anchor, 1, at(steps, index), 0, static_cast<int>(count), {guard.data(), kCancelled},
            {out + row * pairs, pairs, kTaskRows, x.size(), false}, columns, cancelled);
      } else {
        for (std::int64_t i = 0; i < count; ++i) {
          cancelled[i] = (kExact ? kernels::sines_of_exact_sums : kernels::sines_of_sums)(
              anchor, at(steps, index + i), {guard.data(), kCancelled}, values.data(), columns);
          T* to = out + (row + i) * pairs;
          for (std::int64_t k = 0; k < pairs; ++k) to[k] = static_cast<T>(values.data()[k]);
        }
      }
      for (std::int64_t i = 0; i < count; ++i) {
        if (cancelled[i] != 0) repair(row + i, cosine, out + (row + i) * pairs);
      }
    }
  }

 private:
  const double* at(const Tensor<double>& rows, std::int64_t index) const {
    return rows.data() + static_cast<std::size_t>(index) * kParts * columns;
  }
  // How many rows from `row` on have the next id along x and the same along y.
  std::int64_t run_at(std::int64_t row, std::int64_t end) const {
    std::int64_t count = 1;
    while (row + count < end && ids(row + count, 0) == ids(row, 0) + count &&
           ids(row + count, 1) == ids(row, 1)) {
      ++count;
    }
    return count;
  }
  void repair(std::int64_t row, bool cosine, T* values) const {
    const WideFloat along_x(static_cast<double>(ids(row, 0))),
        along_y(static_cast<double>(ids(row, 1)));
    for (std::size_t k = 0; k < x.size(); ++k) {
      // Numbers near the limit too: what is exact stays as it is.
      if (guard.data()[k] != 0 || std::fabs(static_cast<double>(values[k])) > 2 * kCancelled)
        continue;
      const WideFloat angle = WideFloat(x[k]) * along_x + WideFloat(y[k]) * along_y;
      const bool negative = angle.is_negative();
      const kernels::SineAndCosine exact =
          kernels::sine_and_cosine(kernels::turns_of(negative ? -angle : angle), std::int64_t{1});
      values[k] = kernels::round_to<T>(cosine ? exact.cos : negative ? -exact.sin : exact.sin);
    }
  }
};

}  // namespace

template <Floating T>
void fill_plane(Frequencies x, Frequencies y, View<const std::int64_t> ids, T* cos, T* sin,
                int threads) {
  const AxisAngles along_x(x), along_y(y);
  const auto pairs = static_cast<std::int64_t>(x.size());
  Tensor<double> guard = new_rows(1, columns_of(x));
  for (std::size_t k = 0; k < columns_of(x); ++k) {
    const bool turns = k < x.size() && (x[k] != 0 || y[k] != 0);
    guard.data()[k] = turns ? 0 : kernels::kGuard;
  }
  for (std::int64_t first = 0; first < ids.size(0); first += kRows) {
    const std::int64_t rows = std::min(kRows, ids.size(0) - first);
    Plane<T> plane{.x = x, .y = y, .ids = ids.narrow(0, first, rows), .guard = guard.clone()};
    plane.steps = along_x.rows(plane.x_ids, Plane<T>::kParts, false);
    plane.sines = along_y.rows(plane.y_ids, Plane<T>::kParts, false);
    plane.cosines = along_y.rows(plane.y_ids, Plane<T>::kParts, true);
    parallel_for((rows + kTaskRows - 1) / kTaskRows, threads, [&](std::int64_t task) {
      check_interruption();
      const std::int64_t begin = task * kTaskRows, end = std::min(rows, begin + kTaskRows);
      plane.fill(begin, end, false, sin + first * pairs);
      plane.fill(begin, end, true, cos + first * pairs);
    });
  }
}

#define SEXTANT_INSTANTIATE(T) \
  template void fill_plane(Frequencies, Frequencies, View<const std::int64_t>, T*, T*, int);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
