// Gradients of k and v while they are being summed over queries, and their way out.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <vector>

#include "backward_arguments.h"
#include "kernel_rows.h"
#include "kernels/attention_backward_block.h"

namespace sextant::detail {

// Sums over queries, [keys][padded channels] for k and for v, while a unit's tasks run. Threads
// begin units one at a time, so that there are at most two more than threads.
class KeySums {
 public:
  struct Sums {
    Tensor<float> memory;
    float* k = nullptr;
    float* v = nullptr;
  };
  // What a thread has left from units that it finished.
  using Spare = std::vector<Tensor<float>>;

  template <class T>
  explicit KeySums(const BackwardArguments<T>& b)
      : k_width_(is_wanted(b.wanted.k) ? padded_width(b.scores.head_dim) : 0),
        v_width_(is_wanted(b.wanted.v) ? padded_width(b.v.size(3)) : 0),
        units_(static_cast<std::size_t>(b.units())) {}

  // Those of a unit with so many keys, zeros for the first that asks.
  const Sums& of(std::int64_t unit, std::int64_t keys, Spare& spare) {
    Unit& shared = units_[static_cast<std::size_t>(unit)];
    Sums& sums = shared.sums;
    const std::lock_guard lock(shared.mutex);
    const std::int64_t count = keys * (k_width_ + v_width_);
    if (sums.k != nullptr || sums.v != nullptr || count == 0) return sums;
    if (!spare.empty()) {
      sums.memory = std::move(spare.back());
      spare.pop_back();
    }
    if (sums.memory.count() < count) sums.memory = Tensor<float>::uninitialized(Shape{count});
    std::fill_n(sums.memory.data(), count, 0.0F);
    if (k_width_ > 0) sums.k = sums.memory.data();
    if (v_width_ > 0) sums.v = sums.memory.data() + keys * k_width_;
    return sums;
  }

  // Behind the last of its tasks.
  void release(std::int64_t unit, Spare& spare) {
    Sums& sums = units_[static_cast<std::size_t>(unit)].sums;
    if (sums.memory.count() > 0) spare.push_back(std::move(sums.memory));
    sums = {};
  }

 private:
  struct Unit {
    std::mutex mutex;  // its tasks alone: short units would wait for each other at one for all
    Sums sums;
  };
  std::int64_t k_width_, v_width_;
  std::vector<Unit> units_;
};

// Writes sums over queries as gradients, [keys, channels], turned back if the keys were turned;
// returns whether they are finite.
template <class T>
bool store_key_gradients(View<T> to, const Sequence& at, std::int64_t key_head, float* sums,
                         float scale, RotationRows rotation) {
  if (!is_wanted(to)) return true;
  const std::int64_t width = to.size(3), padded = padded_width(width), stride = to.stride(3);
  if (rotation.cos != nullptr) {
    rotation.inverse = true;
    rotate_rows(sums, padded, at.k_len, rotation);
  }
  constexpr std::uint32_t kExponent = 0x7f800000U;
  std::uint32_t beyond = 0;
  for (std::int64_t j = 0; j < at.k_len; ++j, sums += padded) {
    T* row = to.data() + at.batch * to.stride(0) + key_head * to.stride(1) +
             (at.k_begin + j) * to.stride(2);
    if (stride == 1) ask_for_row(row, kRowsAhead * to.stride(2), width);
    for (std::int64_t c = 0; c < width; ++c) {
      sums[c] *= scale;
      beyond |= (std::bit_cast<std::uint32_t>(sums[c]) & kExponent) == kExponent ? 1U : 0U;
    }
    if constexpr (std::is_same_v<T, float>) {
      if (stride == 1) {
        std::copy_n(sums, width, row);
        continue;
      }
    }
    for (std::int64_t c = 0; c < width; ++c) row[c * stride] = static_cast<T>(sums[c]);
  }
  return beyond == 0;
}

}  // namespace sextant::detail
