// The generator of every rotation: angle[token, pair] = position on the pair's axis x frequency
// of the pair; cosine and sine times an amplitude, rounded once. Schemes only say which
// frequencies.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/numbers/wide_float.h"
#include "kernels/sines/sine_table.h"
#include "schemes/rotated/rotation.h"
#include "schemes/rotated/rotation_fields.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

// Tables of positions 0 .. length - 1, or of ids [rows, axes]; [rows, pairs]. Throws Error when
// frequencies or positions are out of range.
template <Floating T>
RotationTable<T> make_rotation(const Rotation& rotation, std::int64_t length);
template <Floating T>
RotationTable<T> make_rotation(const Rotation& rotation, std::span<const std::int64_t> ids);
// The same of ids [rows, rotation.axes], each pair by the id of its axis.
template <Floating T>
RotationTable<T> make_rotation_of_axes(const Rotation& rotation, View<const std::int64_t> ids);
// The same of real positions, [rows] or [rows, 1 or rotation.axes], contiguous.
template <Floating T>
RotationTable<T> make_rotation_of_times(const Rotation& rotation, View<const double> times);
// The first into memory of the caller, cos and sin being [rows, pairs].
template <Floating T>
void make_rotation_into(const Rotation& rotation, RotationTable<T>& table);

// A table of that many rows, still to be filled.
template <Floating T>
RotationTable<T> new_rotation_table(const Rotation& rotation, std::int64_t rows);
// The cosines, or sines, of some pairs at the positions: [rows, which.size()]; zeros where `which`
// is -1. Frequencies and positions as checked.
template <Floating T>
void fill_rotation(const Rotation& rotation, std::span<const std::int32_t> which, bool cosine,
                   const kernels::Positions& positions, T* out);
template <Floating T>
void fill_rotation(const Rotation& rotation, std::span<const std::int32_t> which, bool cosine,
                   std::span<const double> times, T* out);
// Sines, then cosines, of some pairs in one row: [rows, 2 which.size()]. narrow: as in SineTable.
template <Floating T>
void fill_rotation_rows(const Rotation& rotation, std::span<const std::int32_t> which,
                        const kernels::Positions& positions, T* out, bool narrow = false);

// Both functions of a scheme, for every element type.
#define SEXTANT_INSTANTIATE_ROTATION(function, Options)         \
  SEXTANT_INSTANTIATE_ROTATION_FOR(function, Options, float)    \
  SEXTANT_INSTANTIATE_ROTATION_FOR(function, Options, double)   \
  SEXTANT_INSTANTIATE_ROTATION_FOR(function, Options, bfloat16) \
  SEXTANT_INSTANTIATE_ROTATION_FOR(function, Options, float16)
#define SEXTANT_INSTANTIATE_ROTATION_FOR(function, Options, T)         \
  template RotationTable<T> function<T>(const Options&, std::int64_t); \
  template RotationTable<T> function<T>(const Options&, std::span<const std::int64_t>);

}  // namespace sextant
