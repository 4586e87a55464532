// One row of the operator, plainly: the scores of one query with all its keys, their softmax, the
// weighted sum of values, in float64 and in key order. It computes float64 calls, and the rows of
// the others that hold infinities or NaN.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "attention/call/arguments.h"
#include "core/threads/scratch_divider.h"
#include "kernels/rotate/rotate_rows.h"

namespace sextant::attention_detail {

// Which row: query counts in the sequence.
struct RowIndex {
  Sequence sequence;
  std::int64_t head, query;
};

// Scratch of one row.
struct RowScratch {
  double* query;   // [head_dim]
  double* key;     // [head_dim]
  double* scores;  // [k_len]
  double* biases;  // [k_len]: of terms
  // With terms, else null.
  double* unrotated_query = nullptr;  // [head_dim]: the query before any rotation
  double* term_keys = nullptr;        // [kTermKeys, head_dim], where keys have to be converted
  double* term = nullptr;             // scratch of a term
};

// Keys that are converted to float64 at once for a term that reads them.
inline constexpr std::int64_t kTermKeys = 128;

inline RowScratch row_scratch(ScratchDivider<double>& arrays, const AttentionCall& a) {
  RowScratch s{.query = arrays.take(a.head_dim),
               .key = arrays.take(a.head_dim),
               .scores = arrays.take(a.k_len),
               .biases = arrays.take(a.k_len)};
  if (!a.has_terms()) return s;
  s.unrotated_query = arrays.take(a.head_dim);
  s.term_keys = arrays.take(kTermKeys * a.head_dim);
  std::int64_t term = 0;
  const auto count = [&](const TermNeeds& needs) {
    term = std::max(term, needs.scratch + needs.scratch_per_key * a.k_len);
  };
  count(a.logit_term.needs);
  for (const TermUse& use : a.bias_terms) count(use.needs);
  s.term = arrays.take(term);
  return s;
}
inline RowScratch row_scratch(double* memory, const AttentionCall& a) {
  ScratchDivider arrays(memory);
  return row_scratch(arrays, a);
}
// In doubles.
inline std::int64_t row_scratch_size(const AttentionCall& a) {
  ScratchDivider<double> arrays;
  row_scratch(arrays, a);
  return arrays.size();
}

// The query, and key j of its sequence.
inline AnyRow<const void> query_row(const AttentionCall& a, const RowIndex& at) noexcept {
  return a.q.row(at.sequence.batch, at.head, at.sequence.q_begin + at.query);
}
inline AnyRow<const void> key_row(const AttentionCall& a, const RowIndex& at,
                                  std::int64_t j) noexcept {
  return a.k.row(at.sequence, a.key_head(at.head), j);
}

// Gives a term the data of a row, in tiles: the keys of the range at once, or kTermKeys at a time
// if they must be converted. Calls use(inputs) with first_key, keys and their rows set.
template <class Use>
void for_each_term_tile(const AttentionCall& a, const TermUse& term, const RowIndex& at,
                        KeyRange range, const RowScratch& scratch, const Use& use) {
  ScoreInputs<double> inputs{};
  inputs.head_dim = a.head_dim;
  inputs.scale = a.numbers.scale;
  inputs.q = scratch.unrotated_query;
  inputs.q_stride = a.head_dim;
  inputs.scratch = scratch.term;
  const bool in_place = key_row(a, at, 0).in_place<double>() != nullptr;
  const std::int64_t step = !term.needs.k || in_place ? range.end - range.begin : kTermKeys;
  for (std::int64_t first = range.begin; first < range.end; first += step) {
    const std::int64_t count = std::min(step, range.end - first);
    static_cast<ScoreRect&>(inputs) = a.rect(at.sequence, at.head, at.query, 1, first, count);
    if (term.needs.k) {
      inputs.k = key_row(a, at, first).in_place<double>();
      inputs.k_stride = a.k.stride(2);
      if (!in_place) {
        for (std::int64_t j = 0; j < count; ++j) {
          key_row(a, at, first + j).load(scratch.term_keys + j * a.head_dim);
        }
        inputs.k = scratch.term_keys;
        inputs.k_stride = a.head_dim;
      }
    }
    use(inputs);
  }
}

// Adds a term to scores[j] of the keys j in the range; scratch.unrotated_query must be filled.
void add_term(const AttentionCall& call, const TermUse& use, const RowIndex& at, KeyRange range,
              const RowScratch& scratch, double* scores);

// Rotates a row of channels by row n of a table, or by its inverse if table.inverse.
void rotate_row(const kernels::RotationRows& table, std::int64_t n, double* row) noexcept;

// The scores of keys 0 .. keys - 1 of the sequence, padding too, hidden or not, before biases and
// masks. With `steps`, the term before the softcap and the steps after the scale are applied;
// hidden pairs have no term. Keys count in the sequence here and below.
void plain_scores(const AttentionCall& call, const RowIndex& at, std::int64_t keys, bool steps,
                  const RowScratch& scratch);

// The scores of the keys in the range that is returned, biases added, -infinity where hidden. Keys
// outside are hidden and scratch.scores is not written there. Hidden keys are not read.
KeyRange biased_scores(const AttentionCall& call, const RowIndex& at, const RowScratch& scratch);

// The scores of a row before the term of the logits is added, -infinity where anything hides the
// key, for the keys in the range that is returned. Fills scratch.unrotated_query as well.
KeyRange scores_before_term(const AttentionCall& call, const RowIndex& at,
                            const RowScratch& scratch);

// Scores to probabilities, in place; `sink` is a score that takes part, with a value of 0
// (-infinity: none). Zeros when all are -infinity; keys at +infinity have equal weights; NaN makes
// everything NaN except scores of -infinity. Returns log(sum(exp(scores))), the sink's included.
double softmax(double* scores, std::int64_t count,
               double sink = -std::numeric_limits<double>::infinity()) noexcept;

// Dropout of the weights of a row.
void drop_weights(const AttentionCall& call, const RowIndex& at, KeyRange range,
                  double* weights) noexcept;

// The output row: probabilities times v [batch, kv_heads, k_len, v_dim], with the value vectors of
// terms; keys of weight 0 are not read. scratch.unrotated_query must be filled then.
void output_row(const AttentionCall& call, const RowIndex& at, KeyRange range, const KeyArray& v,
                const RowScratch& scratch, double* sum) noexcept;

}  // namespace sextant::attention_detail
