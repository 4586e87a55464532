// The Forgetting Transformer's decay (Lin et al. 2025, 2503.02130): a gate per head and token sets
// how much of the tokens before it is kept.
#pragma once

#include <memory>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

// score(i, j) += F_i - F_j with F_i = log f_0 + ... + log f_i (section 3), summed in float64: the
// logarithm of the product of the gates after the key, up to that of the query. log_gates: [batch
// or 1, heads, length], log f, finite and <= 0; element t belongs to key t of the batch row,
// segments or not, so with a cache it holds the past as well. For calls in which no key after the
// query's diagonal is visible; others are refused. Throws Error when a shape or a number is wrong.
std::shared_ptr<const ScoreTerm> forgetting(View<const double> log_gates);

// The gradient of log_gates from the term's gradient of attention_backward(), [1, parameters]:
// that of F, summed from the end.
Tensor<double> forgetting_backward(const Shape& log_gates, View<const double> gradient);

}  // namespace sextant
