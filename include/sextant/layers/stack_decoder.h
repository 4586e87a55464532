// A stack that reads its tokens one after the other, with the keys and values of what it has read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/attention/kv_cache.h"
#include "sextant/layers/transformer_stack.h"

namespace sextant {

// Several hypotheses at once, all of the same length; the rows of one source are next to each
// other. The stack and the positions must outlive it; stacks whose positions are content terms or
// need every key's id are as the KV cache allows them.
//
// What a read gives is what the stack gives for everything read so far at once, however it was cut:
// the results of its last `count` tokens. Where the scheme's tables depend on the length of the
// text (SchemePositions::length_class) and the text has come to a length with others, caches hold
// keys, and layers above the first hidden states, of the old ones: all is read again then. That is
// once for rotary_longrope, and every token for rotary_dynamic_ntk behind max_length.
class StackDecoder {
 public:
  // `rows` hypotheses of nothing, room for `capacity` tokens each. Throws Error where the positions
  // do not reach as far.
  StackDecoder(const TransformerStack<float>& stack, SchemePositions<float>& positions,
               std::int64_t rows, std::int64_t capacity);

  // What cross attention looks at: context [tokens, width] of an encoder, one segment per row.
  void set_context(View<const float> context, std::span<const std::int64_t> segments, Pass& pass);

  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(sources_.size()); }
  std::int64_t length() const noexcept { return length_; }  // tokens read
  std::int64_t capacity() const noexcept { return capacity_; }
  // Which segment of the context each row looks at, [rows].
  std::span<const std::int64_t> sources() const noexcept { return sources_; }

  // Reads the next `count` tokens of every row: x [rows * count, width], embedded, positions not
  // added. The stack's result, [rows * count, width], in the pass's memory. Throws Error when the
  // capacity is not enough.
  View<const float> read(View<const float> x, Pass& pass);

  // Row i becomes what row parents[i] was. Rows of one source must stay next to each other, sources
  // in order. Throws Error for a parent that is not there.
  void select(std::span<const std::int64_t> parents);

 private:
  void prepare(std::int64_t length);
  View<const float> with_positions(View<const float> x, Pass& pass) const;
  View<const float> read_on(View<const float> x, Pass& pass);
  View<const float> read_again(std::int64_t length, std::int64_t count, Pass& pass);

  const TransformerStack<float>& stack_;
  SchemePositions<float>& positions_;
  std::int64_t length_ = 0, capacity_;
  std::vector<KvCache<float>> caches_;  // of each layer
  Tensor<float> inputs_;  // all x, [rows, capacity, width], where they may be read again
  std::vector<Tensor<float>> cross_keys_;  // of each layer, [context tokens, 2 heads_k head_dim]
  std::vector<std::int64_t> sources_;      // [rows]
  std::vector<std::int64_t> context_segments_;
};

}  // namespace sextant
