// A KV cache divided among ranks, for generating after texts that one rank cannot hold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/attention/kv_cache.h"
#include "sextant/ranks/communicator.h"

namespace sextant::ranks {

// Keys and values of a sequence's positions in turns: rank (p / kTurn) % size holds position p, so
// that all ranks have alike at any length. Every rank makes every call, with the same arguments.
template <CacheElement T>
class KvCache {
 public:
  static constexpr std::int64_t kTurn = 64;

  // Room for `capacity` positions of each sequence on all ranks together. `comm` must outlive the
  // cache. Throws the same Error on all ranks when they differ, and as sextant::KvCache does.
  KvCache(const Communicator& comm, std::int64_t batch, std::int64_t kv_heads,
          std::int64_t head_dim, std::int64_t v_dim, std::int64_t capacity);

  std::int64_t batch() const noexcept { return own_.batch(); }
  // [batch]: positions of each sequence, on all ranks together.
  std::span<const std::int64_t> lengths() const noexcept { return lengths_; }
  std::int64_t capacity() const noexcept { return capacity_; }
  std::int64_t bytes() const noexcept { return own_.bytes(); }  // on this rank

  // Puts k [batch, kv_heads, count, head_dim] and v [batch, kv_heads, count, v_dim], which every
  // rank has, after the stored positions; a rank keeps its own ones. Throws Error when the capacity
  // is too small.
  void append(View<const T> k, View<const T> v);

  // sextant::KvCache::attend() with all positions of all ranks; q and the result are on every rank.
  // Causal at_offsets (the default) or none. Each rank attends to its own positions, and the ranks'
  // results are merged by their log-sum-exps, in the order of ranks: the same bits on all of them.
  // Distances of biases and rows of rotations are those of the whole sequence. Generators must read
  // query_position() and key_position() of their tiles. Not with masks, key_lengths, segments,
  // position ids or content terms.
  void attend(View<const T> q, View<T> out, const AttentionOptions<T>& options = {},
              View<float> log_sum_exp = {}) const;

 private:
  const Communicator& comm_;
  std::int64_t capacity_;
  sextant::KvCache<T> own_;
  std::vector<std::int64_t> lengths_;
};

}  // namespace sextant::ranks
