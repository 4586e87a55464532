// Rotary positions: RoPE (Su et al. 2021, 2104.09864). Pairs of channels of q and k are turned by
// position x frequency.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/schemes/added/sinusoidal.h"
#include "sextant/tables/rotation_table.h"

namespace sextant {

// Which channels of a head are rotated when rotary_dim is less than head_dim.
enum class RotarySpan {
  first,  // GPT-J, GPT-NeoX, Phi, GLM-4
  last,   // DeepSeek's heads: channels that are not rotated come first
};

// The first seven members are those of every rotation.
struct Rotary {
  std::int64_t head_dim = 0;  // channels of a head, 2 .. 2^30
  std::int64_t rotary_dim =
      0;  // channels that turn, even, <= head_dim; 0: all of them (head_dim must be even then)
  double base = 10000;  // > 0
  RotaryLayout layout = RotaryLayout::half_split;
  RotarySpan span = RotarySpan::first;
  // Where `framework` is asked for, the frequencies too are computed in float32, step by step as
  // frameworks do: 1 / float(base^float(2k / rotary_dim)), then what the scheme makes of it.
  Precision precision = Precision::exact;
  int threads = 0;  // 0 .. kMostThreads; 0: default_threads(); the result does not depend on it
};

// The table of positions 0 .. length - 1, or of any positions. Angle k is position * base^(-2k /
// rotary_dim); accuracy as sinusoidal(). Throws Error when an option is out of its range.
template <Floating T = float>
RotationTable<T> rotary(const Rotary& options, std::int64_t length);
template <Floating T = float>
RotationTable<T> rotary(const Rotary& options, std::span<const std::int64_t> positions);

// What a rotation's tables are made of: radians per position of each pair, rounded once (to float32
// with precision framework), and what every cosine and sine is multiplied by.
struct RotationFrequencies {
  std::vector<double> inv_freq;  // of each pair; of schemes with heads [heads, axes, pairs]
  double attention_factor = 1;
};
RotationFrequencies rotation_frequencies(const Rotary& options);

// The same for positions 0 .. n - 1 into a table of the caller whose cos and sin are [n, pairs];
// sets its layout and its first channel. Throws Error when they have another shape.
template <Floating T>
void rotary_into(RotationTable<T>& table, const Rotary& options);

std::string_view name_of(RotarySpan) noexcept;

}  // namespace sextant
