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
#include "schemes/rotated/axis_angles.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

constexpr std::int64_t kTaskRows = 64;
constexpr std::size_t kKept = std::size_t{1} << 23;  // numbers of angles at a time, about

using Frequencies = std::span<const double>;

DistinctIds ids_of(View<const std::int64_t> ids, std::int64_t axis) {
  std::vector<std::int64_t> of_axis(static_cast<std::size_t>(ids.size(0)));
  for (std::int64_t row = 0; row < ids.size(0); ++row) of_axis[row] = ids(row, axis);
  return DistinctIds(std::move(of_axis));
}

// Fills the tables of some rows of ids from the rows of both axes.
template <Floating T>
struct Plane {
  static constexpr bool kExact = std::is_same_v<T, double>;
  static constexpr std::size_t kParts = kExact ? 4 : 2;
  static constexpr double kCancelled = kExact ? kernels::kCancelledFloat64 : kernels::kCancelled;

  Frequencies x, y;
  View<const std::int64_t> ids;
  DistinctIds x_ids = ids_of(ids, 0), y_ids = ids_of(ids, 1);
  std::size_t columns;
  const double* guard;                   // [columns]
  Tensor<double> steps, sines, cosines;  // [ids, parts, columns]: of x; of y

  void fill(std::int64_t first, std::int64_t end, bool cosine, T* out) const {
    const auto pairs = static_cast<std::int64_t>(x.size());
    const Tensor<double>& anchors = cosine ? cosines : sines;
    Tensor<double> values({static_cast<std::int64_t>(columns)});
    std::uint8_t cancelled[kTaskRows];
    for (std::int64_t row = first, count = 0; row < end; row += count) {
      const double* anchor = at(anchors, y_ids.index_of(ids(row, 1)));
      const std::int64_t index = x_ids.index_of(ids(row, 0));
      count = run_at(row, end);
      if constexpr (std::is_same_v<T, float>) {
        kernels::float_sines_of_sums(
            anchor, 1, at(steps, index), 0, static_cast<int>(count), {guard, kCancelled},
            {out + row * pairs, pairs, kTaskRows, x.size(), false}, columns, cancelled);
      } else {
        for (std::int64_t i = 0; i < count; ++i) {
          cancelled[i] = (kExact ? kernels::sines_of_exact_sums : kernels::sines_of_sums)(
              anchor, at(steps, index + i), {guard, kCancelled}, values.data(), columns);
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
      if (guard[k] != 0 || std::fabs(static_cast<double>(values[k])) > 2 * kCancelled) continue;
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
  Tensor<double> guard({static_cast<std::int64_t>(along_x.columns())});
  for (std::int64_t k = 0; k < guard.count(); ++k) {
    const bool turns = k < pairs && (x[k] != 0 || y[k] != 0);
    guard(k) = turns ? 0 : kernels::kGuard;
  }
  constexpr std::size_t kParts = Plane<T>::kParts;
  const auto most = static_cast<std::int64_t>(
      std::max<std::size_t>(kKept / (3 * kParts * along_x.columns()), kTaskRows));
  for (std::int64_t first = 0; first < ids.size(0); first += most) {
    const std::int64_t rows = std::min(most, ids.size(0) - first);
    Plane<T> plane{.x = x,
                   .y = y,
                   .ids = ids.narrow(0, first, rows),
                   .columns = along_x.columns(),
                   .guard = guard.data()};
    plane.steps = along_x.rows(plane.x_ids, kParts, threads);
    plane.sines = along_y.rows(plane.y_ids, kParts, threads);
    plane.cosines = along_y.cosines_of(plane.sines);
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
