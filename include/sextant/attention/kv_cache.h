// Stores the keys and values of earlier tokens, to generate token by token. docs/attention.md shows
// the loop.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "sextant/attention/attention.h"
#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

template <class T>
concept CacheElement =
    std::same_as<T, float> || std::same_as<T, bfloat16> || std::same_as<T, float16>;

// Has room for `capacity` positions of each sequence, [batch, kv_heads, capacity, head_dim] for
// keys and the same for values, allocated at once; pages are touched as the cache fills. Sequences
// may have different lengths. A call that throws changes nothing. A cache is movable; fork() copies
// it. Several threads may use different caches at once, also forks of each other.
template <CacheElement T>
class KvCache {
 public:
  using Wider = std::conditional_t<std::same_as<T, float>, double, float>;

  // Throws Error unless batch, v_dim and capacity are >= 0 and kv_heads and head_dim > 0, and if
  // there is not enough memory.
  KvCache(std::int64_t batch, std::int64_t kv_heads, std::int64_t head_dim, std::int64_t v_dim,
          std::int64_t capacity);
  KvCache(KvCache&&) noexcept = default;
  KvCache& operator=(KvCache&&) noexcept = default;
  ~KvCache() = default;

  std::int64_t batch() const noexcept { return static_cast<std::int64_t>(lengths_.size()); }
  std::int64_t kv_heads() const noexcept { return store_->keys.size(1); }
  std::int64_t head_dim() const noexcept { return store_->keys.size(3); }
  std::int64_t v_dim() const noexcept { return store_->values.size(3); }
  std::int64_t capacity() const noexcept { return store_->keys.size(2); }
  // Returns the number of positions of a sequence. Throws Error if there is no such sequence.
  std::int64_t length(std::int64_t sequence) const;
  // Returns the lengths, [batch].
  std::span<const std::int64_t> lengths() const noexcept SEXTANT_LIFETIME_BOUND { return lengths_; }
  std::int64_t longest() const noexcept;

  // Stores k [batch, kv_heads, count, head_dim] and v [batch, kv_heads, count, v_dim], any strides,
  // after the stored positions; of sequence b the first counts[b] positions, or all if `counts` is
  // empty. Wider numbers are rounded once: float32 for a 16-bit cache, else float64. Throws Error
  // if shapes do not fit or the capacity is too small; then call reserve() first.
  void append(View<const T> k, View<const T> v, std::span<const std::int64_t> counts = {});
  void append(View<const Wider> k, View<const Wider> v, std::span<const std::int64_t> counts = {});

  // Makes room for `capacity` positions, never fewer than before, by copying.
  void reserve(std::int64_t capacity);

  // Drops the positions from `length` on, of every sequence that has them, or of one sequence,
  // which must have them.
  void rewind(std::int64_t length);
  void rewind(std::int64_t sequence, std::int64_t length);
  void clear() noexcept;  // drops all positions; the memory stays

  // Returns another cache with the same contents and capacity, without copying: both read the same
  // memory until one of them appends (or reserves). That one first copies its contents, so a prompt
  // is stored once for all forks that only attend, and once more for each fork that appends except
  // the last.
  KvCache fork() const;
  bool is_shared() const noexcept { return store_.use_count() > 1; }
  std::int64_t bytes() const noexcept;  // returns the size of the memory, shared or not

  // Return [batch, kv_heads, longest(), head_dim or v_dim], valid until the next append() or
  // reserve(). The contents of positions from length(b) on are unspecified.
  View<const T> keys() const SEXTANT_LIFETIME_BOUND;
  View<const T> values() const SEXTANT_LIFETIME_BOUND;

  // Computes attention() of q [batch, heads_q, q_len, head_dim] with all stored keys and values:
  // key_lengths are lengths(), and the queries are the last q_len positions of each sequence unless
  // options.query_offsets are given. Append first. An unset options.causal is at_offsets, which
  // without offsets equals at_lengths; `none` makes all positions visible. Position ids, if any,
  // are those of these queries and of all stored keys, [batch or 1, longest()]. Throws Error as
  // attention() does, and if options has key_lengths, segments, key_segments or another causal.
  void attend(View<const T> q, View<T> out, const AttentionOptions<T>& options = {},
              View<float> log_sum_exp = {}) const;
  // The same with wider queries and outputs: float32 on a 16-bit cache, with which only keys and
  // values are rounded, or float64 on a float32 cache, which is computed row by row in float64.
  void attend(View<const Wider> q, View<Wider> out, const AttentionOptions<T>& options = {},
              View<float> log_sum_exp = {}) const;

 private:
  struct Store {
    Tensor<T> keys, values;  // [batch, kv_heads, capacity, ...]
  };
  KvCache() = default;
  std::shared_ptr<Store> new_store(std::int64_t capacity) const;
  template <class Q>
  void attend_from(View<const Q> q, View<Q> out, const AttentionOptions<T>& options,
                   View<float> log_sum_exp) const;
  template <class S>
  void append_from(View<const S> k, View<const S> v, std::span<const std::int64_t> counts);

  std::shared_ptr<Store> store_;
  std::vector<std::int64_t> lengths_;
};

}  // namespace sextant
