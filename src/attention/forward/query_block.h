// A block of queries of one head of one sequence as the kernels take it: the one place where the
// options of a call become rows, numbers, visible keys, rotations and biases of a kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "attention/call/term_rows.h"
#include "attention/forward/kernel_rows.h"
#include "core/threads/scratch_divider.h"
#include "kernels/attention/block.h"

namespace sextant::attention_detail {

// A head's sink times `unit`, in float32.
inline float kernel_sink(const AttentionCall& a, std::int64_t head, double unit = kernels::kLog2E) {
  return static_cast<float>(a.sink(head) * unit);
}

// What the blocks of all kernels share: rows from query `first_query` on, numbers times `unit`
// (log2(e) if the softmax uses powers of two, 1 in natural units) and rotations.
template <class Block>
void describe_rows(const AttentionCall& a, const Sequence& at, std::int64_t head,
                   std::int64_t first_query, double unit, Block& block) {
  block.q = query_rows(a.q, at, head, first_query);
  block.k = a.k.rows(at, a.key_head(head));
  block.head_dim = a.head_dim;
  block.numbers = kernels::rounded(a.numbers, unit);
  block.sink = kernel_sink(a, head, unit);
  block.q_rotation = query_rotation(a, at, head).from(first_query);
  block.k_rotation = key_rotation(a, at, a.key_head(head));
}

// Consecutive queries, for the forward and the backward kernel.
class QueryBlock {
 public:
  QueryBlock(const QueryBlock&) = delete;
  QueryBlock& operator=(const QueryBlock&) = delete;

 protected:
  // The most queries of a task of the kernel, and the keys of its blocks.
  struct Sizes {
    std::int64_t queries, keys;
  };
  // Queries [first_query, first_query + queries) of the sequence.
  QueryBlock(const AttentionCall& a, const Sequence& sequence, std::int64_t head,
             std::int64_t first_query, std::int64_t queries, Sizes sizes)
      : a_(a),
        biases_{a, sequence, head},
        first_query_(first_query),
        queries_(queries),
        sizes_(sizes) {
    for (std::int64_t i = 0; i < queries; ++i) {
      const KeyRange range = a.visible(sequence, first_query + i);
      key_begin_[i] = static_cast<std::int32_t>(range.begin);
      key_end_[i] = static_cast<std::int32_t>(range.end);
    }
  }

  template <class Block>
  void describe(Block& block) const {
    describe_rows(a_, biases_.sequence, biases_.head, first_query_, kernels::kLog2E, block);
    block.queries = queries_;
    block.key_begin = key_begin_;
    block.key_end = key_end_;
    block.diagonal_bias_key = first_key();
    block.dropout = a_.dropout_of(biases_.sequence, biases_.head, first_query_);
    if (biases_.by_pair()) block.tiles = {fill_tile, this};
  }

  // What the term of the values adds to the values of the head, from a term that gives vectors.
  kernels::ValueVectors value_vectors() const {
    if (a_.value_term == nullptr) return {};
    const ValueVectors v = a_.value_term->value_vectors(biases_.head);
    return {v.vectors, v.count, v.number_of, v.largest,
            a_.diagonal_key(biases_.sequence, first_query_)};
  }

  // The keys of all blocks of keys that the kernel reads.
  std::int64_t first_key() const { return key_begin_[0] / sizes_.keys * sizes_.keys; }
  std::int64_t end_key() const { return std::max(key_end_[queries_ - 1], key_begin_[0]); }
  // The keys that any query sees.
  std::int64_t key_count() const { return end_key() - key_begin_[0]; }
  // Biases by distance are a line, ascending with the query, or a row for the tiles.
  std::int64_t line_floats() const { return sizes_.queries + end_key() - first_key(); }
  std::int64_t tile_floats() const { return kernels::kQueryBlock * sizes_.keys; }

  // The scratch of biases.
  struct BiasScratch {
    float *rows, *distances, *terms;
    TermRows::Arrays term_rows;
    float* term_keys;
  };
  BiasScratch divide_biases(ScratchDivider<float>& arrays) const {
    return {
        .rows = arrays.take_if(biases_.by_pair(), tile_floats()),
        .distances = arrays.take_if(biases_.by_distance(), line_floats()),
        .terms = arrays.take(term_floats(a_)),
        .term_rows = a_.uses_term_rows() ? TermRows::divide(arrays, a_, queries_, key_count())
                                         : TermRows::Arrays(),
        .term_keys = arrays.take_if(a_.uses_term_rows(), TermRows::key_floats(a_, key_count()))};
  }
  // The kernel's view of biases, in that scratch.
  template <class Block>
  void prepare_biases(Block& block, const BiasScratch& scratch) {
    rows_ = scratch.rows;
    term_memory_ = scratch.terms;
    if (biases_.by_distance()) prepare_distances(block, scratch.distances);
    if (!a_.uses_term_rows()) return;
    const KeyRange keys{key_begin_[0], end_key()};
    term_rows_.compute(biases_, first_query_, queries_, distances_, first_distance_,
                       TermRows::load_keys(biases_, keys, scratch.term_keys), scratch.term_rows,
                       term_memory_);
    biases_.term_rows = &term_rows_;
  }

  const AttentionCall& a_;
  HeadBiases biases_;
  std::int64_t first_query_, queries_;
  float* term_memory_ = nullptr;  // scratch of terms
  TermRows term_rows_{};

 private:
  template <class Block>
  void prepare_distances(Block& block, float* distances) {
    const std::int64_t diagonal = a_.diagonal_key(biases_.sequence, first_query_);
    first_distance_ = first_key() - (diagonal + sizes_.queries - 1);
    distances_ = distances;
    const double unit = biases_.by_pair() ? 1 : kernels::kLog2E;
    biases_.fill_distances(first_distance_, line_floats(), unit, distances);
    if (biases_.by_pair()) return;
    std::reverse(distances, distances + line_floats());
    // Its first number is that of query 0 and end_key(), one past the last visible distance.
    block.line = distances + (end_key() - first_key());
  }
  // Whether any pair is seen: the search ends at the first.
  static bool any_seen(const float* rows, std::int64_t row_stride, std::int64_t queries,
                       std::int64_t keys) noexcept {
    constexpr float kNone = -std::numeric_limits<float>::infinity();
    for (std::int64_t i = 0; i < queries; ++i) {
      const float* row = rows + i * row_stride;
      if (std::find_if(row, row + keys, [](float x) { return x != kNone; }) != row + keys) {
        return true;
      }
    }
    return false;
  }
  static kernels::TileBias fill_tile(const void* context, std::int64_t first_query,
                                     std::int64_t queries, std::int64_t first_key,
                                     std::int64_t keys, float* tile) {
    using kernels::TileBias;
    const auto& block = *static_cast<const QueryBlock*>(context);
    switch (block.biases_.effect(block.first_query_ + first_query, queries, first_key, keys)) {
      case TermEffect::hides:
        return TileBias::hidden;
      case TermEffect::none:
        return TileBias::zeros;
      case TermEffect::some:
        break;
    }
    if (queries < kernels::kQueryBlock) std::fill_n(tile, keys * kernels::kQueryBlock, 0.0F);
    const std::int64_t query = block.first_query_ + first_query;
    // A mask without other biases can be read in place.
    const auto& mask = block.a_.float_mask;
    if (mask.data != nullptr && mask.strides[3] == 1 && block.a_.bool_mask.data == nullptr &&
        block.biases_.is_mask_alone()) {
      const Sequence& at = block.biases_.sequence;
      const float* from = mask.data + at.batch * mask.strides[0] +
                          block.biases_.head * mask.strides[1] +
                          (at.q_begin + query) * mask.strides[2] + at.k_begin + first_key;
      if (!any_seen(from, mask.strides[2], queries, keys)) return TileBias::hidden;
      kernels::biases_to_lanes(from, mask.strides[2], queries, keys, tile);
      return TileBias::numbers;
    }
    const std::int64_t row = block.sizes_.keys;
    block.biases_.fill_rows(query, queries, first_key, keys, block.distances_,
                            block.first_distance_, block.rows_, row, block.term_memory_);
    if (!any_seen(block.rows_, row, queries, keys)) return TileBias::hidden;
    kernels::biases_to_lanes(block.rows_, row, queries, keys, tile);
    return TileBias::numbers;
  }

  Sizes sizes_;
  std::int32_t key_begin_[kernels::kTaskQueries], key_end_[kernels::kTaskQueries];
  float* rows_ = nullptr;             // [64][keys]: biases of a tile before they become lanes
  const float* distances_ = nullptr;  // biases by distance, from first_distance_ on
  std::int64_t first_distance_ = 0;
};

}  // namespace sextant::attention_detail
