// Draws the weighted sum of the last word as two walks: one per sentence, a step per word.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/figures/figure.h"

namespace sextant::figures {

// A sentence and the term of each of its words, [words, channels], with at least two channels.
struct WordTerms {
  std::vector<std::string> words;
  Tensor<double> terms;
};

// Draws the first two channels of the running sums; walks that end at the same point are equal
// sums. The values are [steps, 4]: x and y after each word of the first sentence, then of the
// second, starting at zero; a shorter sentence stays at its end. Throws an Error with figure.width
// for fewer than two channels.
Figure plot_last_word_sum(const WordTerms& first, const WordTerms& second, const std::string& title,
                          std::optional<double> max_width = {});

}  // namespace sextant::figures
