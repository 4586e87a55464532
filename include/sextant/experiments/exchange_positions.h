// Replaces the positions of a trained model, without training, and scores its predictions by
// length.
#pragma once

#include <span>

#include "sextant/experiments/extrapolation_run.h"

namespace sextant {

// Scores the model with its own positions, then with each of options.schemes instead, at
// options.test_lengths: in segments and in sliding windows, as segment_perplexity() and
// sliding_perplexity(). It uses only the options for scoring: schemes, test_lengths, stride,
// scored, threads, should_stop. The table has steps = 0, and the length of the model's config as
// the trained length. The model is unchanged at the end.
//
// Throws Error as scored_tokens(), for options out of range ("extrapolation.OPTION"), for schemes
// that learn weights, and for a model that is not causal or has no logits. A scheme that does not
// support a length has a reason there.
ExtrapolationResult exchange_positions(LanguageModel<float>& model,
                                       std::span<const std::int64_t> tokens,
                                       const ExtrapolationOptions& options,
                                       const ExtrapolationObserver& observer = {});

}  // namespace sextant
