// Makes contextual positions (Golovneva et al. 2024, 2405.18719): the distance of a key is the sum
// of the query's gates for the keys up to it.
#pragma once

#include <cstdint>
#include <memory>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

struct Cope {
  // Whether the term is multiplied by the scale like <q, k> (the released code's default), or is
  // added after the scale (its `nodiv`, and the paper's listing).
  bool scaled = true;
};

struct CopeWeights {
  Tensor<double> table{};  // [npos, head_dim], npos >= 1, finite; shared by the heads
};

// Returns the term. With gates g_il = sigmoid(scale <q_i, k_l>) and positions p_ij = min(g_ij + ...
// + g_ii, npos - 1) (equations 3 to 5), score(i, j) += z_i(p_ij), where z_i[n] = <q_i, table[n]>
// and z_i of a fraction is interpolated between its neighbours; times the scale if `scaled`. Hidden
// keys have gate 0. It refuses calls in which a key after the query's diagonal is visible. Throws
// Error if a shape or a number is wrong.
std::shared_ptr<const ScoreTerm> cope(const Cope& options, const CopeWeights& weights);

// Returns the gradient of the weights from the term's gradient of attention_backward(), [1,
// parameters].
CopeWeights cope_backward(const Cope& options, const CopeWeights& weights,
                          View<const double> gradient);

}  // namespace sextant
