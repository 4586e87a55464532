// Makes Transformer-XL's relative positions (Dai et al. 2019, 1901.02860; XLNet, Conformer):
// projected sinusoids by distance, and two learned vectors per head instead of a query's position.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

struct TransformerXl {
  double base = 10000;  // base of the sinusoids, > 0
  // Larger distances count as this; 0: off. At most 2^22.
  std::int64_t clamp_len = 0;
  // The largest distance of a call, in both directions, unless clamp_len or positions determine it:
  // 0 .. 2^22.
  std::int64_t max_distance = 0;
};
// All finite.
struct TransformerXlWeights {
  Tensor<double> u{}, v{};  // [heads, head_dim]
  Tensor<double> w_r{};     // [heads, head_dim, width], width even, 2 .. 2^20
};

// Returns the term: score(i, j) += scale (<u, k_j> + <q_i + v, W_R R(i - j)>), section 3.3 (b), (c)
// and (d), with R the sinusoid of the distance, `width` numbers, sines in the first half and
// cosines in the second. positions: the ids of tokens 0, 1, ...; within +-2^53, at most 2^22 apart
// unless clamped; empty: 0, 1, ... Throws Error if an option, a shape or a number is wrong, or for
// more than 2^28 numbers of projected sinusoids.
std::shared_ptr<const ScoreTerm> transformer_xl(const TransformerXl& options,
                                                const TransformerXlWeights& weights,
                                                std::span<const std::int64_t> positions = {});

// Returns the gradients of the weights from the term's gradient of attention_backward(), [1,
// parameters].
TransformerXlWeights transformer_xl_backward(const TransformerXl& options,
                                             const TransformerXlWeights& weights,
                                             View<const double> gradient);

}  // namespace sextant
