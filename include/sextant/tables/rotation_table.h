// Holds tables of cosines and sines that rotate pairs of channels of q and k, and applies them to
// arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sextant/core/dtype.h"
#include "sextant/core/names.h"
#include "sextant/core/tensor.h"

namespace sextant {

// Says which channels form pair k of a rotated span of n channels.
enum class RotaryLayout {
  interleaved,  // (2k, 2k + 1)       Meta's Llama files, GPT-J, ONNX interleaved = 1
  half_split,   // (k, k + n / 2)     GPT-NeoX, HF checkpoints, ONNX interleaved = 0
};

std::string_view name_of(RotaryLayout) noexcept;

// Cosines and sines of the angle of each position and pair, times an amplitude if there is one,
// which multiplies q and k. `T` is the type to which they are rounded, once.
template <Floating T = float>
struct RotationTable {
  Tensor<T> cos;  // [position, pairs], or [heads, position, pairs] if heads differ
  Tensor<T> sin;  // the same shape
  RotaryLayout layout = RotaryLayout::half_split;
  // Where the rotated span of 2 * pairs channels starts in a head, 0 .. head_dim - 2 * pairs.
  std::int64_t first_channel = 0;
  // The table of keys if it differs; null: the same.
  std::shared_ptr<const RotationTable> keys{};
  // The position of each row, [position], in any order; empty: first_position and the following
  // ones. attention() with position ids uses the row of an id; otherwise index n uses row n.
  std::vector<std::int64_t> positions{};
  std::int64_t first_position = 0;

  const RotationTable& for_keys() const noexcept { return keys ? *keys : *this; }

  // Sets the positions: row n is for position ids[n].
  void set_positions(std::span<const std::int64_t> ids) {
    first_position = ids.empty() ? 0 : ids.front();
    for (std::size_t n = 0; n < ids.size(); ++n) {
      if (ids[n] - first_position == static_cast<std::int64_t>(n)) continue;
      positions.assign(ids.begin(), ids.end());
      first_position = 0;
      return;
    }
    positions.clear();
  }
  // Returns a table of the same rows, channels and layout, without that of keys.
  template <Floating U>
  RotationTable<U> with(Tensor<U> cosines, Tensor<U> sines) const {
    return {std::move(cosines), std::move(sines), layout, first_channel, {},
            positions,          first_position};
  }
};

// Rotates x by row n of the table at the n-th position: y1 = x1 cos - x2 sin, y2 = x1 sin + x2 cos;
// other channels are copied. A table per head rotates head h of x by its head h. table.keys is not
// used: rotate keys with table.for_keys(). x and out: [batch, heads, length, head_dim], strided as
// any slice or transposition of an array; out may be x itself. 16-bit x is rotated by a table of
// the same type or, more exactly, of float32, in float32 arithmetic with one rounding of the result
// to nearest even. It uses up to `threads` threads (0: default_threads()); the result does not
// depend on it. Throws Error if shapes and table do not fit, if elements of out coincide, or if out
// overlaps x without being x.
template <Floating T, Floating U>
requires(std::is_same_v<T, U> || (sizeof(T) == 2 && std::is_same_v<U, float>)) void rotate(
    View<const T> x, View<T> out, const RotationTable<U>& table, int threads = 0);

// Rotates by the opposite angles: the transpose of rotate(), which turns the gradient of its result
// into the gradient of x. Without an amplitude it inverts rotate(), up to rounding; with amplitude
// a the result is a^2 times x.
template <Floating T, Floating U>
requires(std::is_same_v<T, U> || (sizeof(T) == 2 && std::is_same_v<U, float>)) void rotate_back(
    View<const T> x, View<T> out, const RotationTable<U>& table, int threads = 0);

}  // namespace sextant
