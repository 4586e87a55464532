// Texts as vectors, as sentence-transformers makes them of a model's last hidden states.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/models/text_model.h"

namespace sextant {

// Which of a text's hidden states are its vector.
enum class Pooling { mean, first, last, max };
std::string_view name_of(Pooling pooling) noexcept;

struct SentenceOptions {
  Pooling pooling = Pooling::mean;   // over all tokens, special ones included; max: of each channel
  bool normalize = true;             // divide by the length of the vector
  bool lower_case = false;           // the text first
  std::int64_t max_tokens = 0;       // longer texts are cut there; 0: where the positions end
  std::int64_t batch_tokens = 8192;  // of one pass, about
  int threads = 0;                   // as in parallel_for; the numbers do not depend on it
};

// What modules.json, the pooling's config.json and sentence_bert_config.json of a folder say; of a
// folder without modules.json the defaults, for a causal model with the last token's state. Throws
// Error naming the file and key for modules other than Transformer, one Pooling and Normalize, for
// another or several kinds of pooling, and for prompts that are put before texts.
SentenceOptions find_sentence_options(const ModelFolder& folder);

struct SentenceVectors {
  Tensor<float> vectors;        // [texts, width]
  std::int64_t cut = 0;         // texts that had more tokens than max_tokens
  std::int64_t max_tokens = 0;  // that a text could have
};

// Means and lengths are summed in float64. Throws Error naming sentence_vectors.texts for no text
// and for one without tokens, and as the model does.
SentenceVectors sentence_vectors(const TextModel& model, std::span<const std::string> texts,
                                 const SentenceOptions& options = {});

}  // namespace sextant
