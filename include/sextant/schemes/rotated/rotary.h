// Makes rotary positions, RoPE (Su et al. 2021, 2104.09864): pairs of channels of q and k are
// rotated by position x frequency. Variants change one of three parts, which combine freely: the
// frequencies (a scaling), the id that rotates a pair if there are several (the axes), and a factor
// of queries that depends on the position.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/schemes/added/sinusoidal.h"
#include "sextant/schemes/rotated/query_scale.h"
#include "sextant/schemes/rotated/rotary_axial.h"
#include "sextant/schemes/rotated/rotary_dynamic_ntk.h"
#include "sextant/schemes/rotated/rotary_linear.h"
#include "sextant/schemes/rotated/rotary_llama3.h"
#include "sextant/schemes/rotated/rotary_longrope.h"
#include "sextant/schemes/rotated/rotary_ntk.h"
#include "sextant/schemes/rotated/rotary_proportional.h"
#include "sextant/schemes/rotated/rotary_sections.h"
#include "sextant/schemes/rotated/rotary_yarn.h"
#include "sextant/tables/rotation_table.h"

namespace sextant {

// The rotated channels of a head if rotary_dim is less than head_dim.
enum class RotarySpan {
  first,  // GPT-J, GPT-NeoX, Phi, GLM-4
  last,   // DeepSeek's heads: channels that are not rotated come first
};

// The frequencies base^(-2k / rotary_dim), unchanged or scaled for longer texts.
using RotaryScaling =
    std::variant<std::monostate, LinearScaling, NtkScaling, DynamicNtkScaling, YarnScaling,
                 Llama3Scaling, LongropeScaling, ProportionalScaling>;
// One id per token rotates all pairs, or each pair is rotated by one of several ids. With a ladder
// for each axis (AxialFrequencies::per_axis) the scaling changes each ladder like that of a head
// with the axis's channels.
using RotaryAxes = std::variant<std::monostate, SectionAxes, AxialAxes>;

struct Rotary {
  std::int64_t head_dim = 0;    // channels of a head, 2 .. 2^30
  std::int64_t rotary_dim = 0;  // channels that are rotated, even, <= head_dim; 0: all of them
                                // (head_dim must be even then)
  double base = 10000;          // > 0, finite
  RotaryLayout layout = RotaryLayout::half_split;
  RotarySpan span = RotarySpan::first;
  RotaryScaling scaling{};
  RotaryAxes axes{};
  // Multiplies queries by tau(position); queries and keys then have different tables. It needs one
  // id per token and all channels rotated.
  QueryScale query_scale{};
  // With `framework`, frequencies are also computed in float32, step by step as frameworks do: 1 /
  // float(base^float(2k / rotary_dim)), then the scaling.
  Precision precision = Precision::exact;
  int threads = 0;  // 0 .. kMaxThreads; 0: default_threads(); the result does not depend on it
};

// Return the table of positions 0 .. length - 1, or of any positions. Angle k is position times
// frequency k; accuracy as sinusoidal() (float64 within 6 units in the last place with a query
// scale). For axial axes the positions are cells of an image. Throw Error if an option is out of
// its range.
template <Floating T = float>
RotationTable<T> rotary(const Rotary& options, std::int64_t length);
template <Floating T = float>
RotationTable<T> rotary(const Rotary& options, std::span<const std::int64_t> positions);
// Returns the same for several ids per row, [rows, axes], each pair by the id of its axis.
template <Floating T = float>
RotationTable<T> rotary(const Rotary& options, View<const std::int64_t> ids);
// Returns the same for real positions within +-2^53 (time stamps, half pixels), [rows] or [rows,
// axes], in some 100 ns per number. Row n is for index n. Not with axial axes or a query scale.
template <Floating T = float>
RotationTable<T> rotary(const Rotary& options, View<const double> times);

// Writes the first overload into a table of the caller whose cos and sin are [length, pairs]; sets
// its layout and its first channel. Not with axial axes or a query scale. Throws Error if they have
// another shape.
template <Floating T>
void rotary_into(RotationTable<T>& table, const Rotary& options);

// The frequency of each pair in radians per position (for axial axes: per unit of the coordinate),
// rounded once (to float32 with precision framework), and the factor of all cosines and sines.
struct RotationFrequencies {
  std::vector<double> inv_freq;  // of each pair; for schemes with heads [heads, axes, pairs]
  double attention_factor = 1;
};
// Returns the frequencies for texts of this many tokens, if the scaling depends on it; `axes` ids
// per row, 0: as many as one id per row is expanded to.
RotationFrequencies rotation_frequencies(const Rotary& options, std::int64_t length = 0,
                                         std::int64_t axes = 0);
// Returns the axis of each pair, for this number of ids per row; empty if one id rotates all pairs.
std::vector<std::int32_t> rotary_pair_axes(const Rotary& options, std::int64_t axes = 0);

std::string_view name_of(RotarySpan) noexcept;

}  // namespace sextant
