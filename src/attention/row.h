// One row of the operator, plainly: the scores of one query with all its keys, their softmax, the
// weighted sum of values, in float64 and in key order. It computes float64 calls, and the rows of
// the others in which infinities or NaN come up.
#pragma once

#include <cstdint>
#include <limits>

#include "arguments.h"

namespace sextant::detail {

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
};

// What scratch a row needs, in doubles, and its parts in that much memory.
inline std::int64_t row_scratch_size(std::int64_t head_dim, std::int64_t k_len) {
  return 2 * head_dim + k_len + (k_len + 1) / 2;
}
inline RowScratch row_scratch(double* memory, std::int64_t head_dim, std::int64_t k_len) {
  double* scores = memory + 2 * head_dim;
  return {memory, memory + head_dim, scores, reinterpret_cast<float*>(scores + k_len)};
}

// The scores of every key of the sequence, hidden or not, before biases and masks; softcap applied
// if asked. Keys count in the sequence here and below.
template <class T>
void plain_scores(const Arguments<T>& arguments, const RowIndex& at, bool capped,
                  const RowScratch& scratch);

// The scores of the keys in the range that is returned, biases added, -infinity where hidden. Keys
// outside are hidden and scratch.scores is not written there. Hidden keys are not read.
template <class T>
KeyRange biased_scores(const Arguments<T>& arguments, const RowIndex& at,
                       const RowScratch& scratch);

// Scores to probabilities, in place; `sink` is a score that takes part and gives nothing
// (-infinity: none). Zeros when all are -infinity; the keys at +infinity share the weight evenly;
// NaN makes everything NaN but what is at -infinity. Returns log(sum(exp(scores))), the sink's
// included.
double softmax(double* scores, std::int64_t count,
               double sink = -std::numeric_limits<double>::infinity()) noexcept;

// sum[c] = sum over keys in `range` of weights[j] v[j, c]; v is one head's [keys, v_dim]. Keys of
// weight 0 are not read.
template <class T>
void weigh_values(const double* weights, KeyRange range, View<const T> v, double* sum) noexcept;

}  // namespace sextant::detail
