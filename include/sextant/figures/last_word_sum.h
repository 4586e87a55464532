// The sum that the last word gets, as two walks: one per sentence, a step per word.
#pragma once

#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/figures/figure.h"

namespace sextant::figures {

// A sentence and what each of its words adds, [words, channels], of at least two channels.
struct WordTerms {
  std::vector<std::string> words;
  Tensor<double> terms;
};

// The first two channels of the running sums; walks that end in one place are the same sum. The
// values are [steps, 4]: x and y after each word of the first sentence, then of the second, from
// zero on; a sentence that is shorter stays where it ended. Throws Error naming figure.width for
// fewer than two channels.
Figure plot_last_word_sum(const WordTerms& first, const WordTerms& second,
                          const std::string& title);

}  // namespace sextant::figures
