// Computes vectors of texts from a model's last hidden states, as sentence-transformers does.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/models/text_model.h"

namespace sextant {

// Says which of a text's hidden states form its vector.
enum class Pooling { mean, first, last, max };
std::string_view name_of(Pooling pooling) noexcept;

struct SentenceOptions {
  Pooling pooling = Pooling::mean;  // mean over all tokens, also special ones; max: of each channel
  bool normalize = true;            // divide by the vector's length
  bool lower_case = false;          // convert the text to lower case first
  std::int64_t max_tokens = 0;      // longer texts are cut; 0: the largest number of positions
  std::int64_t batch_tokens = 8192;  // approximate tokens of one pass
  int threads = 0;                   // as in parallel_for; the numbers do not depend on it
};

// Reads modules.json, the pooling's config.json and sentence_bert_config.json of a folder. A folder
// without modules.json has the defaults, for a causal model with the last token's state. Throws an
// Error with the file and key for modules other than Transformer, one Pooling and Normalize, for
// another or several kinds of pooling, and for prompts before texts.
SentenceOptions find_sentence_options(const ModelFolder& folder);

struct SentenceVectors {
  Tensor<float> vectors;        // [texts, width]
  std::int64_t cut = 0;         // number of texts with more tokens than max_tokens
  std::int64_t max_tokens = 0;  // the largest number of tokens of a text
};

// Computes the vectors, with means and lengths summed in float64. Throws an Error with
// sentence_vectors.texts for no text and for one without tokens, and as the model does.
SentenceVectors sentence_vectors(const TextModel& model, std::span<const std::string> texts,
                                 const SentenceOptions& options = {});

}  // namespace sextant
