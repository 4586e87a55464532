// Makes the gated relative position bias of XLM-E and WavLM: T5's bias, which every query
// multiplies with a gate of its own (Chi et al. 2021, 2106.16138, section 3.2; Chen et al. 2021,
// 2110.13900, section III-A).
#pragma once

#include <cstdint>
#include <memory>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

// T5's buckets, for both directions.
struct GatedBias {
  std::int64_t num_buckets = 320;   // 4 .. 4096, even
  std::int64_t max_distance = 800;  // from here on there is one bucket, up to 2^28
};
struct GatedBiasWeights {
  Tensor<double> table{};  // [num_buckets, heads], finite: WavLM's rel_attn_embed.weight
  // [batch or 1, heads, length], finite: computed by the model; element t belongs to token t of the
  // batch row, with or without segments.
  Tensor<double> gates{};
};

// Returns the term: score(i, j) += gates[i] table[bucket(j - i)], for attention's options.terms;
// the buckets are those of t5(). Throws Error if an option, a shape or a number is wrong; calls
// with more tokens than gates are refused.
std::shared_ptr<const ScoreTerm> gated_bias(const GatedBias& options,
                                            const GatedBiasWeights& weights);

// Returns the gradients of table and gates from the term's gradient of attention_backward(), [1,
// parameters].
GatedBiasWeights gated_bias_backward(const GatedBiasWeights& weights, View<const double> gradient);

}  // namespace sextant
