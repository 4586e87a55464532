// One row of the operator: the scores of one query with all its keys, their softmax, the weighted
// sum of values. All in float64, in key order, whatever surrounds the row: that is why its bits
// depend on nothing else.
#pragma once

#include <cstdint>

#include "arguments.h"

namespace sextant::detail {

// Which row.
struct RowIndex {
  std::int64_t sequence, head, query;
};

// Scratch of one row, float64.
struct RowScratch {
  double* query;   // [head_dim]
  double* scores;  // [k_len]
};

// The scores of every key, hidden or not, before biases and masks; softcap applied if asked.
template <class T>
void plain_scores(const Arguments<T>& arguments, RowIndex at, bool capped, RowScratch scratch);

// The scores of the keys in the range that is returned, biases added, -infinity where hidden. Keys
// outside are hidden and scratch.scores is not written there. Hidden keys are not read.
template <class T>
KeyRange biased_scores(const Arguments<T>& arguments, RowIndex at, RowScratch scratch);

// Scores to probabilities, in place. Zeros when all are -infinity; the keys at +infinity share the
// weight evenly; NaN makes everything NaN but what is at -infinity.
void softmax(double* scores, std::int64_t count) noexcept;

// sum[c] = sum over keys in `range` of weights[j] v[j, c]; v is one head's [k_len, v_dim]. Keys of
// weight 0 are not read.
template <class T>
void weigh_values(const double* weights, KeyRange range, View<const T> v, double* sum) noexcept;

}  // namespace sextant::detail
