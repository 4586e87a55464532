// Computes the term of each word in the output of the last one.
#include "sextant/lessons/last_word_sum.h"

#include "lessons/sentence_model.h"

namespace sextant {

Tensor<double> last_word_terms(const std::vector<std::string>& sentence,
                               const SentenceAttentionOptions& options) {
  SentenceAttentionOptions causal = options;
  causal.causal = true;
  const lessons::SentenceModel model(sentence, {}, causal);
  const Tensor<double> weights = model.maps(Stage::probabilities);
  const std::int64_t words = model.v.size(0), width = model.v.size(1);
  const View<const double> to_out = model.model.to_out.weight;  // [width, width]
  Tensor<double> terms({words, width});
  for (std::int64_t word = 0; word < words; ++word) {
    for (std::int64_t out = 0; out < width; ++out) {
      double sum = 0;
      for (std::int64_t in = 0; in < width; ++in) {
        sum +=
            to_out(out, in) * weights(in / model.head_dim(), words - 1, word) * model.v(word, in);
      }
      terms(word, out) = sum;
    }
  }
  return terms;
}

Tensor<double> running_sums(View<const double> terms) {
  Tensor<double> sums({terms.size(0) + 1, terms.size(1)});
  for (std::int64_t word = 0; word < terms.size(0); ++word) {
    for (std::int64_t i = 0; i < terms.size(1); ++i) {
      sums(word + 1, i) = sums(word, i) + terms(word, i);
    }
  }
  return sums;
}

}  // namespace sextant
