// Makes the Forgetting Transformer's decay (Lin et al. 2025, 2503.02130): a gate per head and token
// determines how much of the earlier tokens is kept.
#pragma once

#include <memory>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

// Returns the term: score(i, j) += F_i - F_j with F_i = log f_0 + ... + log f_i (section 3), summed
// in float64: the logarithm of the product of the gates after the key, up to that of the query.
// log_gates: [batch or 1, heads, length], log f, finite and <= 0; element t belongs to key t of the
// batch row, with or without segments, so with a cache it has the past too. It refuses calls in
// which a key after the query's diagonal is visible. Throws Error if a shape or a number is wrong.
std::shared_ptr<const ScoreTerm> forgetting(View<const double> log_gates);

// Returns the gradient of log_gates from the term's gradient of attention_backward(), [1,
// parameters]: that of F, summed from the end.
Tensor<double> forgetting_backward(const Shape& log_gates, View<const double> gradient);

}  // namespace sextant
