// Whole sequences of some heads on each rank: which ones, and moving arrays there and back.
#pragma once

#include <cstdint>

#include "sextant/core/tensor.h"
#include "sextant/ranks/communicator.h"
#include "sextant/ranks/sharding.h"

namespace sextant::ranks {

// Which key heads a rank has; query heads go with theirs.
struct Heads {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const noexcept { return end - begin; }
};
class HeadShare {
 public:
  HeadShare(std::int64_t kv_heads, int ranks, bool on_one)
      : kv_heads_(kv_heads), ranks_(ranks), on_one_(on_one) {}
  Heads of(int rank) const noexcept {
    if (on_one_) return {0, rank == 0 ? kv_heads_ : 0};
    return {kv_heads_ * rank / ranks_, kv_heads_ * (rank + 1) / ranks_};
  }
  bool on_one() const noexcept { return on_one_; }

 private:
  std::int64_t kv_heads_;
  int ranks_;
  bool on_one_;
};

// part [batch, heads, own positions, ...] of every rank <-> [batch, own heads, positions, ...].
// `group` heads of the array belong to one key head. Rank 3 or 4.
template <class T>
Tensor<T> to_heads(const Communicator& comm, View<const T> part, const ShardLayout& layout,
                   const HeadShare& share, std::int64_t group);
template <class T>
void from_heads(const Communicator& comm, View<const T> whole, const ShardLayout& layout,
                const HeadShare& share, std::int64_t group, View<T> part);

}  // namespace sextant::ranks
