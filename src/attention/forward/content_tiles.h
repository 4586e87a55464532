// A content term on a tile of scores, for the float32 kernels: rows of q and k in place, or packed.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>

#include "attention/call/arguments.h"
#include "kernels/attention/geometry.h"

namespace sextant::attention_detail {

template <class T>
class ContentTiles {
 public:
  ContentTiles(const Arguments<T>& a, const Sequence& sequence, std::int64_t head)
      : a_(a), sequence_(sequence), head_(head) {}

  // Floats of scratch that add() needs.
  static std::int64_t scratch_size(const Arguments<T>& a) {
    if (a.content == nullptr) return 0;
    return (kernels::kQueryBlock + kernels::kKeyBlock) * a.head_dim +
           a.content->tile_scratch_size(a.head_dim);
  }

  // Adds the term to to[i * stride + j] for queries first_query + i and keys first_key + j.
  void add(std::int64_t first_query, std::int64_t queries, std::int64_t first_key,
           std::int64_t keys, float* to, std::int64_t stride, float* memory) const {
    ContentTerm::Tile tile{.batch = sequence_.batch,
                           .begin = sequence_.k_begin,
                           .head = head_,
                           .first_query = first_query,
                           .queries = queries,
                           .first_diagonal_key = a_.diagonal_key(sequence_, first_query),
                           .first_key = first_key,
                           .keys = keys,
                           .head_dim = a_.head_dim,
                           .scale = a_.scale};
    tile.q = rows(a_.q, head_, sequence_.q_begin + first_query, queries, memory, tile.q_stride);
    memory += kernels::kQueryBlock * a_.head_dim;
    tile.k =
        rows(a_.k, a_.key_head(head_), sequence_.k_begin + first_key, keys, memory, tile.k_stride);
    a_.content->add_tile(tile, to, stride, memory + kernels::kKeyBlock * a_.head_dim);
  }

 private:
  const float* rows(const View<const T>& x, std::int64_t head, std::int64_t first,
                    std::int64_t count, float* room, std::int64_t& stride) const {
    const T* from =
        x.data() + sequence_.batch * x.stride(0) + head * x.stride(1) + first * x.stride(2);
    if constexpr (std::same_as<T, float>) {
      if (x.stride(3) == 1) {
        stride = x.stride(2);
        return from;
      }
    }
    stride = a_.head_dim;
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t c = 0; c < a_.head_dim; ++c) {
        room[r * a_.head_dim + c] = static_cast<float>(from[r * x.stride(2) + c * x.stride(3)]);
      }
    }
    return room;
  }

  const Arguments<T>& a_;
  Sequence sequence_;
  std::int64_t head_;
};

}  // namespace sextant::attention_detail
