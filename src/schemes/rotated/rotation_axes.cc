// Rotations by several ids a row: grids and sections repeat the ids of an axis, so each axis has a
// small table, from which rows are composed.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "core/arrays/each_dtype.h"
#include "schemes/added/sine_blocks.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/indexed/distinct_ids.h"
#include "schemes/rotated/rotation_generator.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

constexpr std::int64_t kTaskRows = 128;

// The pairs that the ids of an axis rotate.
std::vector<std::int32_t> pairs_of(const Rotation& rotation, std::int64_t axis) {
  std::vector<std::int32_t> pairs;
  for (std::int64_t k = 0; k < rotation.pairs(); ++k) {
    if (rotation.axes > 1 && rotation.axis_of_pair[static_cast<std::size_t>(k)] != axis) continue;
    pairs.push_back(static_cast<std::int32_t>(k));
  }
  return pairs;
}

// Rows as wide as the table, zero in the pairs of other axes: put together they are or-ed,
// whichever way the pairs are dealt to the axes.
template <Floating T>
struct Axis {
  DistinctIds ids;
  Tensor<T> rows;  // [ids, 2 pairs], sines and cosines

  const T* row(std::int64_t id) const { return rows.data() + ids.index_of(id) * rows.size(1); }
};

template <Floating T>
Axis<T> make_axis(const Rotation& rotation, View<const std::int64_t> ids, std::int64_t index) {
  Axis<T> axis;
  std::vector<std::int32_t> own_pairs(rotation.axis_of_pair.size(), -1);
  for (std::size_t k = 0; k < own_pairs.size(); ++k) {
    if (rotation.axis_of_pair[k] == index) own_pairs[k] = static_cast<std::int32_t>(k);
  }
  std::vector<std::int64_t> axis_ids(static_cast<std::size_t>(ids.size(0)));
  for (std::int64_t row = 0; row < ids.size(0); ++row) axis_ids[row] = ids(row, index);
  (void)listed_positions(axis_ids, rotation.where("positions"));
  axis.ids = DistinctIds(std::move(axis_ids));
  axis.rows = Tensor<T>::uninitialized({axis.ids.count, 2 * rotation.pairs()});
  fill_rotation_rows(rotation, own_pairs, axis.ids.positions(), axis.rows.data());
  return axis;
}

// to = the bits of `first` | those of `second`, which may be `to`.
void combine(const void* first, const void* second, void* to, std::size_t bytes) {
  using Word = std::uint64_t;
  const auto* a = static_cast<const char*>(first);
  const auto* b = static_cast<const char*>(second);
  auto* out = static_cast<char*>(to);
  const std::size_t words = bytes / sizeof(Word);
  for (std::size_t i = 0; i < words; ++i) {
    Word x, y;
    std::memcpy(&x, a + i * sizeof(Word), sizeof(Word));
    std::memcpy(&y, b + i * sizeof(Word), sizeof(Word));
    x |= y;
    std::memcpy(out + i * sizeof(Word), &x, sizeof(Word));
  }
  for (std::size_t i = words * sizeof(Word); i < bytes; ++i) {
    out[i] = static_cast<char>(a[i] | b[i]);
  }
}

}  // namespace

template <Floating T>
RotationTable<T> make_rotation_of_axes(const Rotation& rotation, View<const std::int64_t> ids) {
  check_frequencies(rotation);
  if (ids.rank() != 2 || ids.size(1) != rotation.axes) {
    throw Error(rotation.where("positions"), "must be [rows, " + std::to_string(rotation.axes) +
                                                 "], one id for each axis, got " +
                                                 ids.shape().to_string());
  }
  const std::int64_t rows = ids.size(0);
  const std::int64_t pairs = rotation.pairs();
  RotationTable<T> table = new_rotation_table<T>(rotation, rows);
  std::vector<Axis<T>> axes;
  for (std::int64_t a = 0; a < rotation.axes; ++a) axes.push_back(make_axis<T>(rotation, ids, a));
  const std::size_t bytes = static_cast<std::size_t>(pairs) * sizeof(T);
  parallel_for((rows + kTaskRows - 1) / kTaskRows, rotation.threads, [&](std::int64_t task) {
    for (std::int64_t row = task * kTaskRows; row < std::min(rows, (task + 1) * kTaskRows); ++row) {
      T* cos = table.cos.data() + row * pairs;
      T* sin = table.sin.data() + row * pairs;
      const T* other_sin = axes[0].row(ids(row, 0));
      const T* other_cos = other_sin + pairs;
      for (std::int64_t a = 1; a < rotation.axes; ++a) {
        const T* from = axes[a].row(ids(row, a));
        combine(other_sin, from, sin, bytes);
        combine(other_cos, from + pairs, cos, bytes);
        other_cos = cos;
        other_sin = sin;
      }
    }
  });
  return table;
}

template <Floating T>
RotationTable<T> make_rotation_of_times(const Rotation& rotation, View<const double> times) {
  check_frequencies(rotation);
  const std::int64_t rows = times.size(0);
  const std::int64_t pairs = rotation.pairs();
  RotationTable<T> table = new_rotation_table<T>(rotation, rows);
  for (std::int64_t a = 0; a < rotation.axes; ++a) {
    std::vector<double> of_axis(static_cast<std::size_t>(rows));
    const bool one = times.rank() == 1 || times.size(1) == 1;  // of every axis
    for (std::int64_t row = 0; row < rows; ++row) {
      of_axis[static_cast<std::size_t>(row)] = times.data()[one ? row : row * rotation.axes + a];
    }
    check_coordinates(of_axis, rotation.where("positions"));
    const std::vector<std::int32_t> own = pairs_of(rotation, a);
    Tensor<T> column = Tensor<T>::uninitialized({rows, std::ssize(own)});
    for (const bool cosine : {false, true}) {
      fill_rotation(rotation, own, cosine, std::span<const double>(of_axis), column.data());
      T* to = (cosine ? table.cos : table.sin).data();
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::size_t k = 0; k < own.size(); ++k) {
          to[row * pairs + own[k]] = column(row, static_cast<std::int64_t>(k));
        }
      }
    }
  }
  return table;
}

#define SEXTANT_INSTANTIATE(T)                                                                \
  template RotationTable<T> make_rotation_of_axes(const Rotation&, View<const std::int64_t>); \
  template RotationTable<T> make_rotation_of_times(const Rotation&, View<const double>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
