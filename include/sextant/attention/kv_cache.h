// Stores the keys and values of earlier tokens, to generate token by token. docs/attention.md shows
// the loop.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>

#include "sextant/attention/attention.h"
#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"
#include "sextant/tables/rotation_table.h"

namespace sextant {

template <class T>
concept CacheElement = std::same_as<T, float> || std::same_as<T, bfloat16> ||
    std::same_as<T, float16> || std::same_as<T, std::int8_t>;

// The sizes of a cache.
struct KvCacheSizes {
  static constexpr std::int64_t kPageSize = 128;

  std::int64_t batch = 1;      // sequences, >= 0
  std::int64_t kv_heads = 1;   // >= 1
  std::int64_t head_dim = 64;  // channels of a key, >= 1
  std::int64_t v_dim = 64;     // channels of a value, >= 0
  // Positions of a page, a multiple of 128 up to 2^20: the kernels read keys in blocks of 128.
  std::int64_t page_size = kPageSize;
};

// Says to which sequence the rows of k and v belong that are appended. At most one of the two is
// given; without both, all rows of batch row b belong to sequence b.
struct AppendedRows {
  // [batch]: of batch row b the first counts[b] rows.
  std::span<const std::int64_t> counts{};
  // [batch + 1]: packed sequences as in AttentionOptions, in one batch row: sequence s has the rows
  // [segments[s], segments[s + 1]), which ascend from 0 to the number of rows.
  std::span<const std::int64_t> segments{};
};

// Stores keys [kv_heads, length, head_dim] and values [kv_heads, length, v_dim] of each sequence of
// a batch, in pages of page_size positions. Sequences may have different lengths and grow as long
// as there is memory. fork(), select() and join() share pages instead of copying them; a page is
// copied when one of those that share it writes to it, so a prompt is stored once for all its
// continuations. docs/decisions/017-paged-cache.md gives the reasons.
//
// KvCache<std::int8_t> stores a row of a head, the key or the value of one position, as whole
// numbers of -127 .. 127 times a scale: max|row| / 127, rounded up to 17 bits. It takes and gives
// float32. Each number x becomes a multiple of the scale s with |x - multiple| <= s / 2 (1 +
// 2^-16), that is max|row| / 254 (1 + 2^-15); rows below 1.5e-36 become zeros. docs/attention.md
// derives the error of outputs.
//
// A call that throws changes nothing. A cache is movable; fork() copies it. Several threads may use
// different caches at once, also those that share pages, or read the same one.
template <CacheElement T>
class KvCache {
 public:
  // The type of its arrays.
  using Float = std::conditional_t<std::same_as<T, std::int8_t>, float, T>;
  using Wider = std::conditional_t<std::same_as<Float, float>, double, float>;
  // Rows to be stored. Wider numbers are rounded once: float32 for a 16-bit cache, else float64 to
  // float32.
  using Rows = std::variant<View<const Float>, View<const Wider>>;
  static constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

  // Makes a cache without positions. Throws Error for a size out of its range, and if there is not
  // enough memory for the lengths.
  explicit KvCache(const KvCacheSizes& sizes);
  KvCache(KvCache&&) noexcept;
  KvCache& operator=(KvCache&&) noexcept;
  ~KvCache();

  KvCacheSizes sizes() const noexcept;
  std::int64_t batch() const noexcept { return static_cast<std::int64_t>(lengths().size()); }
  // Returns the number of positions of a sequence. Throws Error if there is no such sequence.
  std::int64_t length(std::int64_t sequence) const;
  // Returns the lengths, [batch].
  std::span<const std::int64_t> lengths() const noexcept SEXTANT_LIFETIME_BOUND;
  std::int64_t longest() const noexcept;

  // Stores k [batch, kv_heads, count, head_dim] and v [batch, kv_heads, count, v_dim], any strides,
  // after the stored positions; with segments [1, kv_heads, rows, ...]. Throws Error if shapes do
  // not fit or there is not enough memory, and, for 8 bits, for a number beyond 1e38 or NaN.
  void append(const Rows& k, const Rows& v, const AppendedRows& rows = {});

  // The functions below apply to one sequence, or, if `sequence` is not given, to all of them, of
  // which each takes the part of the positions that it has. Throw Error for a sequence that does
  // not exist, and for positions that are not in order or that the one sequence does not have.

  // Drops the positions from `length` on.
  void rewind(std::int64_t length, std::optional<std::int64_t> sequence = {});
  // Drops positions [begin, end): those after them move to `begin`. Pages that lie between are
  // released; if `begin` and `end` are multiples of page_size, no position is copied. Keys that are
  // stored with rotation keep that of their old positions; rotate() moves them.
  void drop(std::int64_t begin, std::int64_t end, std::optional<std::int64_t> sequence = {});
  // Rotates the keys of positions [begin, end) by row |shift| of table.for_keys(), for a negative
  // shift by the opposite angles: moves keys that were stored with rotary embeddings of positions p
  // to positions p + shift. Each is computed in float32 and rounded once, to 8 bits as by append().
  // The table must have that row, with sin^2 + cos^2 = 1: no amplitude. Not for keys that attend()
  // rotates (options.rotation), which move by themselves.
  void rotate(const RotationTable<float>& table, std::int64_t shift, std::int64_t begin = 0,
              std::int64_t end = kEnd, std::optional<std::int64_t> sequence = {});
  void clear() noexcept;  // drops all positions and releases the pages

  // Returns another cache with the same contents, which shares the pages.
  KvCache fork() const;
  // Makes sequence i what sequence sequences[i] was: reorders, repeats (beams) or removes them.
  // Throws Error for a sequence that does not exist.
  void select(std::span<const std::int64_t> sequences);
  // Adds the sequences of another cache after those of this one, which shares their pages. Throws
  // Error unless all sizes but the batch are equal.
  void join(const KvCache& other);

  // Returns whether other sequences or caches have some of the pages.
  bool is_shared() const noexcept;
  // Returns the size of the keys and values that all pages hold, each page counted once, shared or
  // not.
  std::int64_t bytes() const;

  // Return a copy, [batch, kv_heads, longest(), head_dim or v_dim], 0 from length(b) on.
  Tensor<Float> keys() const;
  Tensor<Float> values() const;

  // Computes attention() of q [batch, heads_q, q_len, head_dim] with all stored keys and values:
  // key_lengths are lengths(), and the queries are the last q_len positions of each sequence unless
  // options.query_offsets are given. Append first. An unset options.causal is at_offsets, which
  // without offsets equals at_lengths; `none` makes all positions visible. Position ids, if any,
  // are those of these queries and of all stored keys, [batch or 1, longest()].
  //
  // options.segments, [batch + 1], packs the queries of all sequences into one batch row, q [1,
  // heads_q, rows, head_dim]: sequence s has the rows [segments[s], segments[s + 1]). So one call
  // reads the prompts of some sequences and the next token of others. Masks broadcast to [1,
  // heads_q, rows, longest()], and ids of queries are [1, rows].
  //
  // The bits are those of attention() with the same keys and values, keys() and values(), in one
  // array. Throws Error as attention() does, and if options has key_lengths, key_segments or
  // another causal.
  void attend(View<const Float> q, View<Float> out, const AttentionOptions<Float>& options = {},
              View<float> log_sum_exp = {}) const;
  // The same with wider queries and outputs: float32 on a 16-bit cache, with which only keys and
  // values are rounded, or float64 on a float32 or int8 cache, which is computed row by row in
  // float64.
  void attend(View<const Wider> q, View<Wider> out, const AttentionOptions<Float>& options = {},
              View<float> log_sum_exp = {}) const;

  // Writes the contents to a .safetensors file: lengths I64 [batch], keys [kv_heads, positions of
  // all sequences, head_dim], values likewise, for int8 also key_scales and value_scales F32
  // [kv_heads, positions of all sequences], and page_size and a checksum as metadata. Needs
  // memory for one more copy of the contents. The file gets its name when it is complete. Throws
  // Error if it cannot be written.
  void save(const std::string& path) const;
  // Reads what save() wrote. Throws Error for a file that is damaged, is not of a cache, or has
  // another element type.
  static KvCache load(const std::string& path);

 private:
  struct State;
  KvCache() = default;
  template <class Q>
  void attend_from(View<const Q> q, View<Q> out, const AttentionOptions<Float>& options,
                   View<float> log_sum_exp) const;

  std::unique_ptr<State> state_;  // null after a move
};

// Returns the element type of the cache in a file: float32, bfloat16, float16 or int8. Throws Error
// as KvCache::load() does for the file's header.
DType kv_cache_dtype(const std::string& path);

}  // namespace sextant
