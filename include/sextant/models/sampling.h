// Chooses one token from a model's logits: the most probable one, or one drawn at random with the
// usual filters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/core/random.h"

namespace sextant {

// The options are applied in this order. The defaults draw from softmax(logits).
struct SamplingOptions {
  // 0.001 .. 1000: above 1, the logit of an earlier token is divided by this if positive, else
  // multiplied (Keskar et al. 2019, CTRL, section 4.1); below 1 it is raised.
  double repetition_penalty = 1;
  double temperature = 1;  // >= 0: logits are divided by it; 0 takes the most probable token
  std::int64_t top_k = 0;  // the k most probable tokens stay (Fan et al. 2018); 0: all
  // Above 0, at most 1: only the smallest set of most probable tokens remains whose probabilities,
  // renormalised after top_k, reach this (nucleus, Holtzman et al. 2019, section 3.1); at least one
  // token remains.
  double top_p = 1;
};

// Makes tokens impossible: their logits become -inf. Ids outside the vocabulary have no effect.
void forbid(std::span<const std::int64_t> tokens, std::span<float> logits) noexcept;

// Throws Error for an option out of its range.
void check_sampling(const SamplingOptions& options);

// Returns the index of the largest logit, the lowest one of ties. `logits` is [vocabulary]; -inf is
// an impossible token. Throws Error if there are none, one is NaN or +inf, or all are -inf.
std::int64_t greedy_token(std::span<const float> logits);

// Returns [vocabulary], the distribution that sample_token draws from; 0 for tokens that the
// filters remove. Ties for a place in top_k or top_p go to the lower index. `previous` are the
// tokens to which repetition_penalty applies, each counted once. Throws Error as above, and for a
// previous token outside the vocabulary.
std::vector<double> token_probabilities(std::span<const float> logits,
                                        const SamplingOptions& options,
                                        std::span<const std::int64_t> previous = {});

// Returns the index at `point` in [0, 1) if the probabilities are laid side by side.
std::int64_t token_at(std::span<const double> probabilities, double point);

// Draws with one number of `random` (none at temperature 0): the same seed gives the same tokens.
std::int64_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                          NumpyRandom& random, std::span<const std::int64_t> previous = {});

}  // namespace sextant
