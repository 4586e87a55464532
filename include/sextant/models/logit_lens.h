// Computes the next token that each layer of a trained model would predict.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/models/text_model.h"

namespace sextant {

// A possible next token.
struct TokenProbability {
  std::int64_t token = 0;
  double probability = 0;
};

// Returns the most probable of softmax(logits), at most `count` of them: by falling probability,
// equal ones by token. `logits` is [vocabulary]; computed in float64. Throws Error for a count
// below 1 and as greedy_token().
std::vector<TokenProbability> most_probable(std::span<const float> logits, std::int64_t count);

struct LogitLensOptions {
  std::int64_t top_k = 5;  // predictions of a layer at a token, at least 1
  int threads = 0;         // as in parallel_for; the numbers do not depend on it
};

// The predictions of every layer, as if the stack ended after it: the final norm, the map to the
// vocabulary and the pointer, if there is one, read its residual stream ("logit lens",
// nostalgebraist 2020). Layer 0 is the input of the first layer; the last one is the model's own
// distribution.
struct LogitLens {
  std::vector<std::int64_t> read;  // tokens; a translator's decoder reads <bos> and its target
  // The token after each token that is read; -1 at the end of the text. A translator ends with
  // <eos>. A masked model predicts the token itself.
  std::vector<std::int64_t> next;
  std::vector<std::vector<std::vector<TokenProbability>>>
      predictions;                                    // [layers + 1][read][up to count]
  std::vector<std::vector<double>> next_probability;  // [layers + 1][read]; 0 without a next token
};

inline constexpr std::size_t kMaxLensTokens = 512;

// Returns the name of a layer in pages: "embedding", "layer 0", "layer 1", ...
std::string layer_name(std::size_t layer);

// Returns the predictions of a language model over a text. Throws an Error with logit_lens.text for
// a text of no token or of more than kMaxLensTokens, logit_lens.top_k, and as the model does.
LogitLens logit_lens(const TextModel& model, std::string_view text,
                     const LogitLensOptions& options = {});
// Returns the predictions of a translator's decoder; `target` is the translation, by default the
// model's own by beam search. Throws Error as above, also with logit_lens.target.
LogitLens logit_lens(const TextTranslator& model, std::string_view source,
                     const std::optional<std::string>& target = {},
                     const LogitLensOptions& options = {});

}  // namespace sextant
