// Gradients of k and v while they are being summed over queries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "attention/backward/arguments.h"
#include "kernels/attention/backward_block.h"

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
      : k_width_(is_wanted(b.wanted.k) ? kernels::padded_width(b.scores.head_dim) : 0),
        v_width_(is_wanted(b.wanted.v) ? kernels::padded_width(b.v.size(3)) : 0),
        units_(static_cast<std::size_t>(b.units())) {}

  // Those of a unit with so many keys, zeros for the first that asks. `shared`: several threads may
  // ask; else a lock would only wait for what was stored before.
  const Sums& of(std::int64_t unit, std::int64_t keys, bool shared, Spare& spare) {
    Unit& own = units_[static_cast<std::size_t>(unit)];
    Sums& sums = own.sums;
    std::unique_lock lock(own.mutex, std::defer_lock);
    if (shared) lock.lock();
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

}  // namespace sextant::detail
