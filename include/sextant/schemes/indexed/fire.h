// Makes FIRE's bias: a small network computes it from the logarithm of the distance, divided by
// that of the query's position (Li et al. 2023, 2310.04418, section 3).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

struct Fire {
  double threshold = 512;  // L, 0 .. 2^53: queries before it have the same denominator
  double epsilon = 1e-6;   // added to the denominator, > 0
};

// All finite.
struct FireWeights {
  double c = 0.1;
  double threshold_multiplier = 1;
  Tensor<double> w1{}, b1{};  // [hidden]
  Tensor<double> w2{};        // [heads, hidden]
  Tensor<double> b2{};        // [heads]
};

// Returns the bias. With psi(x) = ln(|c| x + 1), i the query's id and j the key's, and L =
// |threshold_multiplier threshold|:
//   x = psi(|i - j|) / (psi(max(L, i)) + epsilon)
//   bias = b2 + sum over units of w2 relu(w1 x + b1)
// The paper defines it for the past, j <= i; keys in the future are biased by |i - j|, with the
// denominator of the query, so x may be above 1 there. It is computed in float64 and rounded to
// float32 once.
//
// Token n of the sequence has the id positions[n]: key n, and query n - offset; position ids of the
// call of attention() replace the list. Calls with more tokens, or with heads that w2 does not
// have, are refused. Memory is O(tokens + max id - min id), and nothing transcendental is computed
// per pair, unless the ids span many times the number of tokens. Throws Error if an option is out
// of its range, weights do not fit or give biases beyond float32, or ids are not within +-2^53. The
// gradient of attention_backward() is in an internal form; fire_backward() turns it into that of
// the weights.
std::shared_ptr<const ScoreTerm> fire(const Fire& options, const FireWeights& weights,
                                      std::span<const std::int64_t> positions);

// Returns the gradients of the weights. At a kink of relu it is that of one side.
FireWeights fire_backward(const Fire& options, const FireWeights& weights,
                          View<const double> gradient);

}  // namespace sextant
