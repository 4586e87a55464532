// Rotary positions: RoPE (Su et al. 2021, 2104.09864). Pairs of channels of q and k are turned by
// position x frequency.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"
#include "sextant/schemes/sinusoidal.h"

namespace sextant {

// Which channels make pair k of a rotated span of n channels.
enum class RotaryLayout {
  interleaved,  // (2k, 2k + 1)       Llama's own files, GPT-J, ONNX interleaved = 1
  half_split,   // (k, k + n / 2)     GPT-NeoX, HF checkpoints, ONNX interleaved = 0
};

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

// Cosines and sines of each position and pair, an amplitude multiplied in where a scheme has one.
// `T` is the type they are rounded to, once.
template <Floating T = float>
struct RotationTable {
  Tensor<T> cos;  // [position, pairs], or [heads, position, pairs] where heads differ
  Tensor<T> sin;  // likewise
  RotaryLayout layout = RotaryLayout::half_split;
  std::int64_t first_channel = 0;  // where the rotated span of 2 * pairs channels starts in a head
  // The table of keys where it is another one (xPos, temperature); null: the same.
  std::shared_ptr<const RotationTable> keys{};

  const RotationTable& for_keys() const noexcept { return keys ? *keys : *this; }
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

// Turns x by row n of the table for the n-th position: y1 = x1 cos - x2 sin, y2 = x1 sin + x2 cos;
// other channels are copied. A table by head turns head h of x by its head h; table.keys is not
// used: rotate keys with table.for_keys(). x and out: [batch, heads, length, head_dim], strided as
// any slice or transposition of an array; out may be x itself. 16-bit x is turned by a table of its
// own type or, more exactly, of float32, in float32 arithmetic with one rounding of the result to
// nearest even. `threads` is how many may share the work (0: default_threads()); the result does
// not depend on it. Throws Error when shapes and table do not fit, when elements of out coincide,
// and when out overlaps x without being x.
template <Floating T, Floating U>
requires(std::is_same_v<T, U> || (sizeof(T) == 2 && std::is_same_v<U, float>)) void rotate(
    View<const T> x, View<T> out, const RotationTable<U>& table, int threads = 0);

// The same by the opposite angles: the transpose of rotate(), which takes the gradient of its
// result to the gradient of x. It undoes rotate(), but for roundings, where the table has no
// amplitude; one of amplitude a comes back a^2 times as large.
template <Floating T, Floating U>
requires(std::is_same_v<T, U> || (sizeof(T) == 2 && std::is_same_v<U, float>)) void rotate_back(
    View<const T> x, View<T> out, const RotationTable<U>& table, int threads = 0);

std::string_view name_of(RotaryLayout) noexcept;
std::string_view name_of(RotarySpan) noexcept;

}  // namespace sextant
