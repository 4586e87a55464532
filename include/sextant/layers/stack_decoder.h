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
class StackDecoder {
 public:
  // `rows` hypotheses of nothing, room for `capacity` tokens each. Prepares the positions.
  StackDecoder(const TransformerStack<float>& stack, SchemePositions<float>& positions,
               std::int64_t rows, std::int64_t capacity);

  // What cross attention looks at: context [tokens, width] of an encoder, one segment per row.
  void set_context(View<const float> context, std::span<const std::int64_t> segments, Pass& pass);

  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(sources_.size()); }
  std::int64_t length() const noexcept { return length_; }  // tokens read
  std::int64_t capacity() const noexcept { return capacity_; }
  // Which segment of the context each row looks at, [rows].
  std::span<const std::int64_t> sources() const noexcept { return sources_; }

  // Reads the next `count` tokens of every row: x [rows * count, width], embedded with the
  // positions length() .. length() + count - 1. The stack's result, [rows * count, width], in the
  // pass's memory. Throws Error when the capacity is not enough.
  View<const float> read(View<const float> x, Pass& pass);

  // Row i becomes what row parents[i] was. Rows of one source must stay next to each other, sources
  // in order. Throws Error for a parent that is not there.
  void select(std::span<const std::int64_t> parents);

 private:
  const TransformerStack<float>& stack_;
  SchemePositions<float>& positions_;
  std::int64_t length_ = 0, capacity_;
  std::vector<KvCache<float>> caches_;     // of each layer
  std::vector<Tensor<float>> cross_keys_;  // of each layer, [context tokens, 2 heads_k head_dim]
  std::vector<std::int64_t> sources_;      // [rows]
  std::vector<std::int64_t> context_segments_;
};

}  // namespace sextant
