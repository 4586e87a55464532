// Shows why attention without positions does not see order: the output of the last word is a sum
// over the words, and a sum is the same in any order.
#pragma once

#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/lessons/sentence_attention.h"

namespace sextant {

// Returns [words, width]: the term of each word in the output of the last one, its weight times its
// value through the projection of the output, all heads together. With the bias of that projection
// they add up to the last row of attend_sentences().output. The mask is causal; options and errors
// are those of attend_sentences().
Tensor<double> last_word_terms(const std::vector<std::string>& sentence,
                               const SentenceAttentionOptions& options);

// Returns [words + 1, channels]: zero, then the sum so far after each word.
Tensor<double> running_sums(View<const double> terms);

}  // namespace sextant
