// Attention of a sentence with itself without learned weights: y = W x.
#pragma once

#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/lessons/word_arithmetic.h"
#include "sextant/text/word_vectors.h"

namespace sextant {

struct VectorAttention {
  std::vector<std::string> words;    // as the vectors have them
  Tensor<double> weights;            // W = softmax(x x^T / sqrt(width)), [words, words]
  Tensor<double> output;             // y = W x, [words, width]
  std::vector<NearestWord> nearest;  // to each row of y, among all words that have vectors
};

// x are the words' vectors, [words, width]; a word without one is looked up in lower case. Every
// row of y is a mean of the words, weighted by how alike they are, so a word mostly attends to
// itself. Throws Error for no word, and naming a word that has no vector or one whose output is
// zero, which is near to nothing.
VectorAttention attend_vectors(const std::vector<std::string>& words, const WordVectors& vectors);

}  // namespace sextant
