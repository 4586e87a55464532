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

#include "core/wide_float.h"
#include "kernels/sines/sine_table.h"
#include "schemes/rotated/ladder.h"
#include "schemes/rotated/rotation_fields.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

struct Rotation {
  std::string_view scheme;  // what errors name
  std::int64_t dim = 0;     // rotated channels
  std::int64_t first_channel = 0;
  RotaryLayout layout = RotaryLayout::half_split;
  Precision precision = Precision::exact;
  int threads = 0;
  std::vector<WideFloat> frequencies;  // radians per position of each pair, 0 .. 2^64
  std::vector<float> framework;        // what float32 frameworks compute for them
  double amplitude = 1;                // finite
  // Several ids a row: the axis of each pair, 0 .. axes - 1. Empty: every pair is of the only axis.
  std::vector<std::int32_t> axis_of_pair;
  std::int64_t axes = 1;

  std::int64_t pairs() const noexcept { return dim / 2; }
  std::string where(std::string_view option) const {
    return std::string(scheme) + "." + std::string(option);
  }
};

Rotation begun_rotation(std::string_view scheme, const Rotary& common);
// The options that all rotations share, checked; frequencies are still to be given. Throws Error
// naming `scheme` and the option.
template <class Options>
Rotation checked_rotation(std::string_view scheme, const Options& options) {
  check_fields(scheme, options);
  return begun_rotation(scheme, {.head_dim = options.head_dim,
                                 .rotary_dim = options.rotary_dim,
                                 .layout = options.layout,
                                 .span = options.span,
                                 .precision = options.precision,
                                 .threads = options.threads});
}

// The frequencies and the amplitude of a ladder.
void set_ladder(Rotation& rotation, RotaryLadder ladder);

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

// Throws Error when frequencies are out of range, negative, or beyond float32 in frameworks.
void check_frequencies(const Rotation& rotation);
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

RotationFrequencies frequencies_of(const Rotation& rotation);

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
