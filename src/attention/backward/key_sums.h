// Gradients of k and v while they are being summed over queries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "attention/backward/arguments.h"
#include "kernels/attention/backward_block.h"

namespace sextant::attention_detail {

// Sums over queries, [keys][padded channels] for k and for v, while a slice's tasks run; twice as
// many numbers for a slice with more than kernels::kSpanTasks tasks. Threads
// begin slices one at a time, so that there are at most two more than threads.
class KeySums {
 public:
  struct Sums {
    Tensor<float> memory;
    kernels::QuerySums k, v;
  };
  // A thread's memory from slices that it finished.
  using BufferPool = std::vector<Tensor<float>>;

  explicit KeySums(const BackwardArguments& b)
      : k_width_(b.wanted.k.is_given() ? kernels::padded_width(b.scores.head_dim) : 0),
        v_width_(b.wanted.v.is_given() ? kernels::padded_width(b.v.size(3)) : 0),
        slices_(static_cast<std::size_t>(b.slices())) {}

  // Returns the sums of a slice with `keys` keys and the given number of tasks, zero at the first
  // call. With more than one task several threads may call this for the slice; a lock is taken only
  // then.
  const Sums& of(std::int64_t slice, std::int64_t keys, std::int64_t tasks, BufferPool& spare) {
    Slice& found = slices_[static_cast<std::size_t>(slice)];
    Sums& sums = found.sums;
    std::unique_lock lock(found.mutex, std::defer_lock);
    if (tasks > 1) lock.lock();
    const std::int64_t chains = keys * (k_width_ + v_width_);
    const bool has_spans = tasks > kernels::kSpanTasks;
    const std::int64_t count = has_spans ? 2 * chains : chains;
    if (sums.k.chain != nullptr || sums.v.chain != nullptr || count == 0) return sums;
    if (!spare.empty()) {
      sums.memory = std::move(spare.back());
      spare.pop_back();
    }
    if (sums.memory.count() < count) sums.memory = Tensor<float>::uninitialized(Shape{count});
    std::fill_n(sums.memory.data(), count, 0.0F);
    const auto at = [&](std::int64_t index) -> kernels::QuerySums {
      float* chain = sums.memory.data() + index;
      return {chain, has_spans ? chain + chains : nullptr};
    };
    if (k_width_ > 0) sums.k = at(0);
    if (v_width_ > 0) sums.v = at(keys * k_width_);
    return sums;
  }

  // After the last of its tasks.
  void release(std::int64_t slice, BufferPool& spare) {
    Sums& sums = slices_[static_cast<std::size_t>(slice)].sums;
    if (sums.memory.count() > 0) spare.push_back(std::move(sums.memory));
    sums = {};
  }

 private:
  struct Slice {
    std::mutex mutex;  // one per slice: short slices would contend for a single one
    Sums sums;
  };
  std::int64_t k_width_, v_width_;
  std::vector<Slice> slices_;
};

}  // namespace sextant::attention_detail
