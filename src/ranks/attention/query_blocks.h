// Own queries, cut into blocks whose results fit a small buffer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ranks/attention/call.h"

namespace sextant::ranks {

// Blocks of at most `bytes` of float32 results; multiples of 256 queries, the operator's task.
template <class T>
std::vector<Piece> query_blocks(const Call<T>& call, std::int64_t width, std::int64_t bytes) {
  constexpr std::int64_t kTask = 256;
  const std::int64_t of_task = std::max<std::int64_t>(
      1, call.all.batch * call.all.heads_q * width * kTask * std::int64_t{sizeof(float)});
  const std::int64_t most = kTask * std::max<std::int64_t>(1, bytes / of_task);
  std::vector<Piece> blocks;
  for (Piece piece : call.query_pieces(call.rank())) {
    while (piece.size() > 0) {
      const std::int64_t count = std::min(piece.size(), most);
      blocks.push_back({piece.segment, piece.begin, piece.begin + count, piece.row});
      piece.begin += count;
      piece.row += count;
    }
  }
  return blocks;
}

// The part of `keys` that the queries see, and where it begins in them; no keys: none.
template <class T>
Piece seen_of(const Call<T>& call, const Piece& queries, const Piece& keys) {
  if (queries.segment != keys.segment) return {};
  const Piece seen = call.seen(queries);
  Piece both{keys.segment, std::max(keys.begin, seen.begin), std::min(keys.end, seen.end)};
  if (both.begin >= both.end) return {};
  both.row = keys.row + both.begin - keys.begin;
  return both;
}

// An array as float32; of float32, itself.
template <class T>
class AsFloat {
 public:
  explicit AsFloat(View<const T> from) {
    if constexpr (std::is_same_v<T, float>) {
      view_ = from;
    } else {
      const Tensor<T> packed = copy_of(from);
      copy_ = Tensor<float>::uninitialized(from.shape());
      std::transform(packed.data(), packed.data() + packed.count(), copy_.data(),
                     [](T value) { return static_cast<float>(value); });
      view_ = std::as_const(copy_).view();
    }
  }
  AsFloat(const AsFloat&) = delete;
  AsFloat& operator=(const AsFloat&) = delete;
  View<const float> view() const noexcept { return view_; }

 private:
  Tensor<float> copy_;
  View<const float> view_;
};

}  // namespace sextant::ranks
