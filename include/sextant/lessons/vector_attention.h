// Computes the attention of a sentence to itself without learned weights: y = W x.
#pragma once

#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/lessons/word_arithmetic.h"
#include "sextant/text/word_vectors.h"

namespace sextant {

struct VectorAttention {
  std::vector<std::string> words;    // as they are spelled in the vectors
  Tensor<double> weights;            // W = softmax(x x^T / sqrt(width)), [words, words]
  Tensor<double> output;             // y = W x, [words, width]
  std::vector<NearestWord> nearest;  // nearest word of each row of y, among all words with vectors
};

// x are the words' vectors, [words, width]; a word without one is looked up in lower case. Every
// row of y is a mean of the words, weighted by their similarity, so a word mostly attends to
// itself. Throws Error for no word, and with the word for one that has no vector or whose output is
// zero, which is near to nothing.
VectorAttention attend_vectors(const std::vector<std::string>& words, const WordVectors& vectors);

}  // namespace sextant
