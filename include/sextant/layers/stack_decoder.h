// Decodes token by token with a stack and KV caches.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "sextant/attention/kv_cache.h"
#include "sextant/layers/transformer_stack.h"

namespace sextant {

// How the KV cache of a decoder stores keys and values: as float32 they are what was computed, the
// 16-bit types round each once, in half the memory, and int8 stores rows as multiples of a 127th of
// their largest number, in a good quarter. Queries and outputs stay float32.
enum class CacheType { float32, bfloat16, float16, int8 };
std::string_view name_of(CacheType type) noexcept;

// Decodes several hypotheses at once, all of the same length; the rows of one source are adjacent.
// The stack and the positions must outlive it. Content terms and schemes that need every key's id
// are supported as far as the KV cache supports them.
//
// A read returns the results of its last `count` tokens, as if the stack got all tokens so far at
// once, for any division into reads. If the scheme's tables depend on the length of the text
// (PositionModule::table_key) and the text reaches a length with other tables, the cached keys and
// hidden states belong to the old tables, so all tokens are computed again: once for
// rotary_longrope, and at every token beyond max_length for rotary_dynamic_ntk.
class StackDecoder {
 public:
  // Makes `rows` empty hypotheses with room for `capacity` tokens each. Throws Error if the
  // positions end before (PositionModule::max_length), and for a cache type without a name.
  StackDecoder(const TransformerStack<float>& stack, const PositionModule<float>& positions,
               std::int64_t rows, std::int64_t capacity, CacheType cache_type = CacheType::float32);

  // Sets the context of cross attention: [tokens, width] of an encoder, one segment per row.
  void set_context(View<const float> context, std::span<const std::int64_t> segments, Pass& pass);

  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(sources_.size()); }
  std::int64_t length() const noexcept { return length_; }  // tokens read
  std::int64_t capacity() const noexcept { return capacity_; }
  std::int64_t cache_bytes() const;  // of the keys and values of all layers
  // Returns the segment of the context that each row attends to, [rows].
  std::span<const std::int64_t> sources() const noexcept { return sources_; }

  // Reads the next `count` tokens of every row: x [rows * count, width], embedded, without
  // positions. Returns the stack's result, [rows * count, width], in the pass's memory. Throws
  // Error if the capacity is not enough.
  View<const float> read(View<const float> x, Pass& pass);

  // Drops all tokens.
  void clear() noexcept;

  // Replaces row i by row parents[i]. Rows of one source must stay adjacent, sources in order.
  // Throws Error for a parent that does not exist.
  void reorder(std::span<const std::int64_t> parents);

 private:
  using Cache =
      std::variant<KvCache<float>, KvCache<bfloat16>, KvCache<float16>, KvCache<std::int8_t>>;
  void make_tables(std::int64_t length);
  View<const float> with_positions(View<const float> x, Pass& pass) const;
  View<const float> append(View<const float> x, Pass& pass);
  View<const float> recompute(std::int64_t length, std::int64_t count, Pass& pass);

  const TransformerStack<float>& stack_;
  const PositionModule<float>& positions_;
  PositionTables<float> tables_;
  std::int64_t length_ = 0, capacity_;
  std::vector<Cache> caches_;  // of each layer
  Tensor<float> inputs_;       // all x, [rows, capacity, width], if they may be read again
  std::vector<Tensor<float>> cross_keys_;  // of each layer, [context tokens, 2 kv_heads head_dim]
  std::vector<std::int64_t> sources_;      // [rows]
  std::vector<std::int64_t> context_segments_;
};

}  // namespace sextant
