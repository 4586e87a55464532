// Which positions of a sequence a rank holds, and moving arrays from one sharding to another.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/core/names.h"
#include "sextant/core/tensor.h"
#include "sextant/ranks/communicator.h"

namespace sextant::ranks {

// N positions on R ranks. With a causal mask late positions have more to do than early ones, so
// that `contiguous` leaves rank 0 idle most of the time; the others give all ranks alike.
enum class Sharding {
  contiguous,  // rank r: positions [r N / R, (r + 1) N / R)
  zigzag,      // 2 R such pieces; rank r: pieces r and 2 R - 1 - r (Llama 3, 2407.21783, 3.3.2)
  striped,     // rank r: positions r, r + R, r + 2 R, ... (Brandon et al. 2023, 2311.09431)
};
std::string_view name_of(Sharding sharding) noexcept;

// Positions begin, begin + step, ..., `count` of them.
struct Run {
  std::int64_t begin, count, step;
  friend bool operator==(const Run&, const Run&) = default;
};

// How `length` positions lie on `ranks` ranks. A rank holds its runs one after the other.
class ShardLayout {
 public:
  // Throws Error for a sharding that is no named value, length < 0 and ranks < 1.
  ShardLayout(Sharding sharding, std::int64_t length, int ranks);

  Sharding sharding() const noexcept { return sharding_; }
  std::int64_t length() const noexcept { return length_; }
  int ranks() const noexcept { return ranks_; }
  // How many positions a rank holds, which, and where.
  std::int64_t count(int rank) const noexcept;
  std::vector<Run> runs(int rank) const;
  int rank_of(std::int64_t position) const noexcept;
  std::int64_t index_of(std::int64_t position) const noexcept;  // in the part of its rank

 private:
  std::int64_t pieces() const noexcept {
    return sharding_ == Sharding::zigzag ? 2 * ranks_ : ranks_;
  }
  std::int64_t piece_begin(std::int64_t piece) const noexcept;
  std::int64_t piece_of(std::int64_t position) const noexcept;

  Sharding sharding_;
  std::int64_t length_;
  int ranks_;
};

// The rows of every rank along axis `axis`, divided as `to` instead of `from`. Both are of the same
// length and as many ranks as comm has; other axes are alike on all ranks. T: any type of arrays.
// Throws Error on all ranks when a part does not have the rows that `from` gives its rank.
template <class T>
Tensor<T> redistribute(const Communicator& comm, View<const T> part, const ShardLayout& from,
                       const ShardLayout& to, int axis = 2);

// The whole on every rank, in the order of positions.
template <class T>
Tensor<T> gather(const Communicator& comm, View<const T> part, const ShardLayout& from,
                 int axis = 2);

// The part of `rank` of an array that is whole.
template <class T>
Tensor<T> shard_of(View<const T> whole, const ShardLayout& layout, int rank, int axis = 2);

}  // namespace sextant::ranks
