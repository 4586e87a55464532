// W = softmax(x x^T / sqrt(width)) and y = W x.
#include "sextant/lessons/vector_attention.h"

#include "sextant/core/error.h"
#include "sextant/lessons/sentence_attention.h"
#include "sextant/text/segment.h"

namespace sextant {

VectorAttention attend_vectors(const std::vector<std::string>& words, const WordVectors& vectors) {
  if (words.empty()) throw Error("attend_vectors.words", "must be at least one, got none");
  const auto count = static_cast<std::int64_t>(words.size());
  const std::int64_t width = vectors.width();
  VectorAttention result;
  Tensor<double> x({count, width});
  for (const std::string& word : words) {
    const auto row = static_cast<std::int64_t>(result.words.size());
    result.words.push_back(vectors.contains(word) ? word : lower_case(word));
    const View<const float> vector = vectors[result.words.back()];
    for (std::int64_t i = 0; i < width; ++i) x(row, i) = static_cast<double>(vector(i));
  }
  result.weights = plain_self_attention(x);
  result.output = Tensor<double>({count, width});
  for (std::int64_t query = 0; query < count; ++query) {
    for (std::int64_t key = 0; key < count; ++key) {
      const double weight = result.weights(query, key);
      for (std::int64_t i = 0; i < width; ++i) result.output(query, i) += weight * x(key, i);
    }
    result.nearest.push_back(
        nearest_words(vectors, result.output.view().select(0, query), 1).front());
  }
  return result;
}

}  // namespace sextant
