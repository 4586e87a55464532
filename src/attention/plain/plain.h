// The operator row by row in float64: it runs float64 calls, and defines the result where there are
// infinities or NaN.
#pragma once

#include "attention/call/arguments.h"

namespace sextant::attention_detail {

template <class T>
void plain_attention(const Arguments<T>& arguments, View<const T> v, View<T> out);

// One row of it: its v_dim outputs are the first numbers of `memory`, which holds
// plain_row_scratch() doubles. Returns log(sum(exp(scores))).
template <class T>
double plain_row(const Arguments<T>& arguments, const Sequence& sequence, std::int64_t head,
                 std::int64_t query, View<const T> v, double* memory);
// Recomputes the channels and log_sum_exp of a row that the fast path left infinite or NaN; finite
// ones stay.
template <class T>
void recompute_nonfinite_channels(const Arguments<T>& arguments, const Sequence& sequence,
                                  std::int64_t head, std::int64_t query, View<const T> v,
                                  View<T> out);
template <class T>
std::int64_t plain_row_scratch(const Arguments<T>& arguments, std::int64_t v_dim);

}  // namespace sextant::attention_detail
