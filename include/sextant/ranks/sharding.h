// Says which positions of a sequence a rank holds, and moves arrays from one sharding to another.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/core/names.h"
#include "sextant/core/tensor.h"
#include "sextant/ranks/communicator.h"

namespace sextant::ranks {

// The divisions of N positions among R ranks. With a causal mask late positions need more work than
// early ones, so `contiguous` leaves rank 0 idle most of the time; the others give all ranks equal
// work.
enum class Sharding {
  contiguous,  // rank r: positions [r N / R, (r + 1) N / R)
  zigzag,      // 2 R such pieces; rank r: pieces r and 2 R - 1 - r (Llama 3, 2407.21783, 3.3.2)
  striped,     // rank r: positions r, r + R, r + 2 R, ... (Brandon et al. 2023, 2311.09431)
};
std::string_view name_of(Sharding sharding) noexcept;

// Positions begin, begin + step, ..., `count` of them.
struct ShardRange {
  std::int64_t begin, count, step;
  friend bool operator==(const ShardRange&, const ShardRange&) = default;
};

// The places of `length` positions on `ranks` ranks. A rank holds its ranges one after the other.
class ShardLayout {
 public:
  // Throws Error for an unknown sharding, length < 0 and ranks < 1.
  ShardLayout(Sharding sharding, std::int64_t length, int ranks);

  Sharding sharding() const noexcept { return sharding_; }
  std::int64_t length() const noexcept { return length_; }
  int ranks() const noexcept { return ranks_; }
  // Return the number of a rank's positions, the positions, and the rank of a position.
  std::int64_t count(int rank) const noexcept;
  std::vector<ShardRange> ranges(int rank) const;
  int rank_of(std::int64_t position) const noexcept;
  std::int64_t index_of(std::int64_t position) const noexcept;  // index in the part of its rank

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

// Moves the rows along axis `axis` from the division `from` to the division `to`. Both have the
// same length and as many ranks as comm; other axes are equal on all ranks. T: any type of arrays.
// Throws Error on all ranks if a part does not have the rows that `from` gives its rank.
template <class T>
Tensor<T> redistribute(const Communicator& comm, View<const T> part, const ShardLayout& from,
                       const ShardLayout& to, int axis = 2);

// Returns the whole array on every rank, in the order of positions.
template <class T>
Tensor<T> gather(const Communicator& comm, View<const T> part, const ShardLayout& from,
                 int axis = 2);

// Returns the part of `rank` of a whole array.
template <class T>
Tensor<T> shard_of(View<const T> whole, const ShardLayout& layout, int rank, int axis = 2);

}  // namespace sextant::ranks
