// Frequencies become columns of sines, and columns become rotation tables.
#include "schemes/rotated/rotation_generator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "core/arrays/each_dtype.h"
#include "kernels/sines/sine_table.h"
#include "schemes/added/sinusoidal_columns.h"
#include "schemes/added/sinusoidal_positions.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

using kernels::Positions;

template <Floating T>
void fill(const Rotation& rotation, const Positions& positions, RotationTable<T>& table) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(rotation.pairs()));
  std::iota(all.begin(), all.end(), 0);
  fill_rotation(rotation, all, false, positions, table.sin.data());
  fill_rotation(rotation, all, true, positions, table.cos.data());
}

Positions first_positions(const Rotation& rotation, std::int64_t length) {
  return consecutive_positions(0, length, rotation.where("first"), rotation.where("length"));
}

// The columns of a table of sines: some pairs of a rotation.
struct Columns {
  std::vector<kernels::SineColumn> columns;
  std::vector<kernels::Turns> turns;
  std::vector<float> frequencies;

  void add(const Rotation& rotation, std::span<const std::int32_t> which, bool cosine) {
    for (const std::int32_t pair : which) {
      columns.push_back({pair < 0 ? -1 : static_cast<std::int32_t>(turns.size()), cosine});
      if (pair < 0) continue;
      turns.push_back(kernels::turns_of(rotation.frequencies[pair]));
      frequencies.push_back(rotation.framework.empty() ? 0 : rotation.framework[pair]);
    }
  }
  // Appends the cosines of all columns, which share their angles.
  void add_cosines() {
    const std::size_t count = columns.size();
    for (std::size_t i = 0; i < count; ++i) columns.push_back({columns[i].frequency, true});
  }
};

// `Rows` is Positions or std::span<const double>.
template <Floating T, class Rows>
void fill_columns(const Rotation& rotation, const Columns& of, const Rows& positions, T* out,
                  bool narrow = false) {
  const auto width = std::ssize(of.columns);
  const kernels::SineTable table{of.turns, of.columns, rotation.amplitude, narrow};
  const auto amplitude = static_cast<float>(rotation.amplitude);
  if constexpr (std::is_same_v<Rows, Positions>) {
    if (rotation.precision == Precision::exact) {
      kernels::fill_sines(table, positions, out, width, rotation.threads);
      return;
    }
    const std::vector<std::int64_t> list = listed(positions);
    kernels::fill_sines_as_frameworks<T, std::int64_t>(of.frequencies, of.columns, amplitude, list,
                                                       out, width, rotation.threads);
  } else if (rotation.precision == Precision::exact) {
    kernels::fill_sines_one_by_one<T>(table, positions, std::ssize(positions), out, width,
                                      rotation.threads);
  } else {
    kernels::fill_sines_as_frameworks<T, double>(of.frequencies, of.columns, amplitude, positions,
                                                 out, width, rotation.threads);
  }
}

}  // namespace

template <Floating T>
void fill_rotation(const Rotation& rotation, std::span<const std::int32_t> which, bool cosine,
                   const Positions& positions, T* out) {
  Columns columns;
  columns.add(rotation, which, cosine);
  fill_columns(rotation, columns, positions, out);
}
template <Floating T>
void fill_rotation(const Rotation& rotation, std::span<const std::int32_t> which, bool cosine,
                   std::span<const double> times, T* out) {
  Columns columns;
  columns.add(rotation, which, cosine);
  fill_columns(rotation, columns, times, out);
}
template <Floating T>
void fill_rotation_rows(const Rotation& rotation, std::span<const std::int32_t> which,
                        const Positions& positions, T* out, bool narrow) {
  Columns columns;
  columns.add(rotation, which, false);
  columns.add_cosines();
  fill_columns(rotation, columns, positions, out, narrow);
}

template <Floating T>
RotationTable<T> new_rotation_table(const Rotation& rotation, std::int64_t rows) {
  const std::int64_t pairs = rotation.pairs();
  check_table_size(rotation.where("length"), rows, pairs, "pairs");
  return {Tensor<T>::uninitialized({rows, pairs}), Tensor<T>::uninitialized({rows, pairs}),
          rotation.layout, rotation.first_channel};
}

template <Floating T>
RotationTable<T> make_rotation(const Rotation& rotation, std::int64_t length) {
  check_frequencies(rotation);
  const Positions positions = first_positions(rotation, length);
  RotationTable<T> table = new_rotation_table<T>(rotation, length);
  fill(rotation, positions, table);
  return table;
}

template <Floating T>
RotationTable<T> make_rotation(const Rotation& rotation, std::span<const std::int64_t> ids) {
  check_frequencies(rotation);
  const Positions positions = listed_positions(ids, rotation.where("positions"));
  RotationTable<T> table = new_rotation_table<T>(rotation, positions.count);
  table.set_positions(ids);
  fill(rotation, positions, table);
  return table;
}

template <Floating T>
void make_rotation_into(const Rotation& rotation, RotationTable<T>& table) {
  check_frequencies(rotation);
  table.layout = rotation.layout;
  table.first_channel = rotation.first_channel;
  table.set_positions({});
  fill(rotation, first_positions(rotation, table.cos.size(0)), table);
}

#define SEXTANT_INSTANTIATE(T)                                                             \
  template RotationTable<T> make_rotation(const Rotation&, std::int64_t);                  \
  template RotationTable<T> make_rotation(const Rotation&, std::span<const std::int64_t>); \
  template void make_rotation_into(const Rotation&, RotationTable<T>&);                    \
  template RotationTable<T> new_rotation_table(const Rotation&, std::int64_t);             \
  template void fill_rotation(const Rotation&, std::span<const std::int32_t>, bool,        \
                              const Positions&, T*);                                       \
  template void fill_rotation(const Rotation&, std::span<const std::int32_t>, bool,        \
                              std::span<const double>, T*);                                \
  template void fill_rotation_rows(const Rotation&, std::span<const std::int32_t>,         \
                                   const Positions&, T*, bool);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
