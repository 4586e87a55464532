// Computes the biases and terms of one head of one sequence, from all sources, for kernels.
#pragma once

#include <cstdint>

#include "attention/call/arguments.h"

namespace sextant::attention_detail {

class TermRows;

// Floats of scratch for the terms of a call.
std::int64_t term_floats(const AttentionCall& call) noexcept;

struct HeadBiases {
  const AttentionCall& call;
  Sequence sequence;
  std::int64_t head;
  const TermRows* term_rows = nullptr;  // of calls that use them

  // Whether there are biases, masks or terms at all: those by distance, which depend on the
  // distance of indices alone, and those by pair.
  bool by_distance() const noexcept { return has_distances() && !call.by_ids; }
  bool by_pair() const noexcept {
    return call.has_mask() || call.has_terms() || (has_distances() && call.by_ids);
  }

  // Whether there is nothing but a mask.
  bool is_mask_alone() const noexcept { return !call.has_terms() && !has_distances(); }

  // Whether all of fill_rows() is 0 or hidden, as far as the terms know.
  TermEffect effect(std::int64_t first_query, std::int64_t queries, std::int64_t first_key,
                    std::int64_t keys) const noexcept;

  // Computes the biases by distance: to[i] for distance first_distance + i, i < count, times
  // `factor` in float64 and rounded once; finite stays finite. 0 for distances outside the table,
  // which are hidden.
  void fill_distances(std::int64_t first_distance, std::int64_t count, double factor,
                      float* to) const noexcept;

  // Computes everything that is added to the scores of at most 64 queries with at most 128 keys, in
  // natural units: to[i * to_row + j] for query first_query + i and key first_key + j. -infinity
  // hides. `distances` is the result of fill_distances() from `first_distance` on with factor 1, or
  // null if there is no bias by distance; `memory` holds term_floats().
  void fill_rows(std::int64_t first_query, std::int64_t queries, std::int64_t first_key,
                 std::int64_t keys, const float* distances, std::int64_t first_distance, float* to,
                 std::int64_t to_row, float* memory) const noexcept;
  // The same without the term of the logits.
  void fill_biases(std::int64_t first_query, std::int64_t queries, std::int64_t first_key,
                   std::int64_t keys, const float* distances, std::int64_t first_distance,
                   float* to, std::int64_t to_row, float* memory) const noexcept;

  // What a term reads of a rectangle in float32, with its scratch; `memory` holds term_floats().
  ScoreInputs<float> inputs(const TermUse& use, const ScoreRect& rect,
                            float* memory) const noexcept;

 private:
  void add_term(const TermUse& use, const ScoreRect& rect, float* to, std::int64_t to_row,
                float* memory) const noexcept;
  bool has_distances() const noexcept { return call.has_bias_table() || call.slope(head) != 0; }
  // Add biases by ids, and masks, to the biases of one query.
  void add_by_ids(std::int64_t query, std::int64_t first_key, std::int64_t keys,
                  float* to) const noexcept;
  void add_masks(std::int64_t query, std::int64_t first_key, std::int64_t keys,
                 float* to) const noexcept;
};

}  // namespace sextant::attention_detail
