// Shardings as arithmetic: pieces of nearly one length, or every R-th position.
#include "sextant/ranks/sharding.h"

#include <string>

#include "core/options/enum_names.h"

namespace sextant::ranks {

std::string_view name_of(Sharding sharding) noexcept {
  return enum_name(sharding, {"contiguous", "zigzag", "striped"});
}

ShardLayout::ShardLayout(Sharding sharding, std::int64_t length, int ranks)
    : sharding_(sharding), length_(length), ranks_(ranks) {
  check_named("ranks.sharding", sharding);
  if (length < 0) throw Error("ranks.length", "must be >= 0, got " + std::to_string(length));
  if (ranks < 1) throw Error("ranks.ranks", "must be >= 1, got " + std::to_string(ranks));
}

// length * piece / pieces, rounded down, without overflow.
std::int64_t ShardLayout::piece_begin(std::int64_t piece) const noexcept {
  const std::int64_t whole = length_ / pieces(), rest = length_ % pieces();
  return whole * piece + rest * piece / pieces();
}

std::int64_t ShardLayout::piece_of(std::int64_t position) const noexcept {
  std::int64_t low = 0, high = pieces();  // the last piece that begins at or before it
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (piece_begin(middle) <= position ? low : high) = middle;
  }
  return low;
}

std::vector<ShardRange> ShardLayout::ranges(int rank) const {
  if (sharding_ == Sharding::striped) return {{rank, count(rank), ranks_}};
  const auto piece = [&](std::int64_t n) {
    return ShardRange{piece_begin(n), piece_begin(n + 1) - piece_begin(n), 1};
  };
  if (sharding_ == Sharding::contiguous) return {piece(rank)};
  return {piece(rank), piece(2 * ranks_ - 1 - rank)};
}

std::int64_t ShardLayout::count(int rank) const noexcept {
  if (sharding_ == Sharding::striped) {
    return rank < length_ ? (length_ - rank - 1) / ranks_ + 1 : 0;
  }
  const auto size = [&](std::int64_t n) { return piece_begin(n + 1) - piece_begin(n); };
  return sharding_ == Sharding::contiguous ? size(rank) : size(rank) + size(2 * ranks_ - 1 - rank);
}

int ShardLayout::rank_of(std::int64_t position) const noexcept {
  if (sharding_ == Sharding::striped) return static_cast<int>(position % ranks_);
  const std::int64_t piece = piece_of(position);
  return static_cast<int>(piece < ranks_ ? piece : 2 * ranks_ - 1 - piece);
}

std::int64_t ShardLayout::index_of(std::int64_t position) const noexcept {
  if (sharding_ == Sharding::striped) return position / ranks_;
  const std::int64_t piece = piece_of(position), index = position - piece_begin(piece);
  if (piece < ranks_) return index;
  const std::int64_t first = 2 * ranks_ - 1 - piece;
  return index + piece_begin(first + 1) - piece_begin(first);
}

}  // namespace sextant::ranks
