// Other positions in a trained model, without training: what its predictions become, by length.
#pragma once

#include <span>

#include "sextant/experiments/extrapolation_run.h"

namespace sextant {

// Scores the model with its own positions, then with each of options.schemes in their place, at
// options.test_lengths: in segments and in sliding windows, as segment_perplexity() and
// sliding_perplexity(). Of the options those of scoring count: schemes, test_lengths, stride,
// scored, threads, should_stop. The table has steps = 0, and the length of the model's config as
// that which it was trained at. The model is as before at the end.
//
// Throws Error as scored_tokens() and for options out of range ("extrapolation.OPTION"), schemes
// that learn weights, and a model that is not causal or has no logits. A scheme that cannot have a
// length has a reason there.
ExtrapolationResult exchange_positions(LanguageModel<float>& model,
                                       std::span<const std::int64_t> tokens,
                                       const ExtrapolationOptions& options,
                                       const ExtrapolationObserver& observer = {});

}  // namespace sextant
