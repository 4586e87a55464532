// The operator one row after the other in float64: what float64 calls run, and what defines the
// result where infinities and NaN come up.
#pragma once

#include "attention/call/arguments.h"

namespace sextant::detail {

template <class T>
void plain_attention(const Arguments<T>& arguments, View<const T> v, View<T> out);

// One row of it: its v_dim outputs are the first numbers of `memory`, which holds
// plain_row_scratch() doubles. Returns log(sum(exp(scores))).
template <class T>
double plain_row(const Arguments<T>& arguments, const Sequence& sequence, std::int64_t head,
                 std::int64_t query, View<const T> v, double* memory);
// What infinities and NaN make of a row that the fast path left with some: its channels and
// log_sum_exp that are finite stay, the plain path gives the others.
template <class T>
void mend_row(const Arguments<T>& arguments, const Sequence& sequence, std::int64_t head,
              std::int64_t query, View<const T> v, View<T> out);
template <class T>
std::int64_t plain_row_scratch(const Arguments<T>& arguments, std::int64_t v_dim);

}  // namespace sextant::detail
