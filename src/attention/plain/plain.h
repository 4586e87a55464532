// The operator row by row in float64: it runs float64 calls, and defines the result where there are
// infinities or NaN.
#pragma once

#include "attention/call/arguments.h"

namespace sextant::attention_detail {

void plain_attention(const AttentionCall& call, const KeyArray& v, const AnyOutput& out);

// One row of it: its v_dim outputs are the first numbers of `memory`, which holds
// plain_row_scratch() doubles. Returns log(sum(exp(scores))).
double plain_row(const AttentionCall& call, const Sequence& sequence, std::int64_t head,
                 std::int64_t query, const KeyArray& v, double* memory);
// Recomputes the channels and log_sum_exp of a row that the fast path left infinite or NaN; finite
// ones stay.
void recompute_nonfinite_channels(const AttentionCall& call, const Sequence& sequence,
                                  std::int64_t head, std::int64_t query, const KeyArray& v,
                                  const AnyOutput& out);
std::int64_t plain_row_scratch(const AttentionCall& call, std::int64_t v_dim);

}  // namespace sextant::attention_detail
