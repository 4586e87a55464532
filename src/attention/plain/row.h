// One row of the operator, plainly: the scores of one query with all its keys, their softmax, the
// weighted sum of values, in float64 and in key order. It computes float64 calls, and the rows of
// the others that hold infinities or NaN.
#pragma once

#include <cstdint>
#include <limits>

#include "attention/call/arguments.h"
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
  float* biases;   // [k_len]
  // With a content term, else null.
  double* unrotated_query = nullptr;  // [head_dim]: the query before any rotation
  double* content = nullptr;          // scratch of the term
};

// The scratch of a row in doubles, and its arrays in that memory.
inline std::int64_t row_scratch_size(const AttentionCall& a) {
  const std::int64_t content =
      a.content == nullptr ? 0 : a.head_dim + a.content->scratch_size(a.k_len, a.head_dim);
  return 2 * a.head_dim + a.k_len + (a.k_len + 1) / 2 + content;
}
inline RowScratch row_scratch(double* memory, const AttentionCall& a) {
  double* scores = memory + 2 * a.head_dim;
  double* biases = scores + a.k_len;
  RowScratch scratch{memory, memory + a.head_dim, scores, reinterpret_cast<float*>(biases)};
  if (a.content != nullptr) {
    scratch.unrotated_query = biases + (a.k_len + 1) / 2;
    scratch.content = scratch.unrotated_query + a.head_dim;
  }
  return scratch;
}

// Rotates a row of channels by row n of a table, or by its inverse if table.inverse.
void rotate_row(const kernels::RotationRows& table, std::int64_t n, double* row) noexcept;

// The scores of keys 0 .. keys - 1 of the sequence, padding too, hidden or not, before biases and
// masks. If `capped`, content term and softcap are applied; hidden pairs have no term. Keys count
// in the sequence here and below.
template <class T>
void plain_scores(const Arguments<T>& arguments, const RowIndex& at, std::int64_t keys, bool capped,
                  const RowScratch& scratch);

// The scores of the keys in the range that is returned, biases added, -infinity where hidden. Keys
// outside are hidden and scratch.scores is not written there. Hidden keys are not read.
template <class T>
KeyRange biased_scores(const Arguments<T>& arguments, const RowIndex& at,
                       const RowScratch& scratch);

// The scores of a row with a content term before the term is added, -infinity where anything hides
// the key, for the keys in the range that is returned. Fills scratch.unrotated_query as well.
template <class T>
KeyRange scores_before_content(const Arguments<T>& arguments, const RowIndex& at,
                               const RowScratch& scratch);

// Scores to probabilities, in place; `sink` is a score that takes part, with a value of 0
// (-infinity: none). Zeros when all are -infinity; keys at +infinity have equal weights; NaN makes
// everything NaN except scores of -infinity. Returns log(sum(exp(scores))), the sink's included.
double softmax(double* scores, std::int64_t count,
               double sink = -std::numeric_limits<double>::infinity()) noexcept;

// The output row: probabilities times v [batch, kv_heads, k_len, v_dim], with the value vectors of
// a content term; keys of weight 0 are not read. scratch.unrotated_query must be filled then.
template <class T>
void output_row(const Arguments<T>& arguments, const RowIndex& at, KeyRange range, View<const T> v,
                const RowScratch& scratch, double* sum) noexcept;

// sum[c] = sum over keys in `range` of weights[j] v[j, c]; v is one head's [keys, v_dim]. Keys of
// weight 0 are not read.
template <class T>
void weighted_sum(const double* weights, KeyRange range, View<const T> v, double* sum) noexcept;

}  // namespace sextant::attention_detail
