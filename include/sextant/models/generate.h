// What a causal language model goes on with, as tokens or as text.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/models/language_model.h"
#include "sextant/models/sampling.h"
#include "sextant/models/text_model.h"

namespace sextant {

// How a token was chosen. Borrows, for the time of the call.
struct GeneratedToken {
  std::int64_t token = 0;
  std::span<const float> logits;          // [vocabulary], of the model
  std::span<const double> probabilities;  // [vocabulary], what it was drawn from
};

struct GenerateOptions {
  std::int64_t max_tokens = 200;  // to generate, >= 1
  SamplingOptions sampling{};
  std::uint32_t seed = 1;
  std::int64_t stop = -1;  // a token that ends the text and is not part of it; -1: none
  int threads = 0;
  // Called with every choice, that of `stop` too; may be empty.
  std::function<void(const GeneratedToken&)> watch{};
};

// Continues `prompt` (at least one token), with a KV cache; returns the new tokens. `each` (may be
// empty) is called with every new token; false ends the text after it. At temperature 0 the tokens
// are the most probable ones, whatever the seed. Throws Error for options out of range, a token
// outside the vocabulary, a model that is not causal, or positions that the scheme does not have.
std::vector<std::int64_t> generate(const LanguageModel<float>& model,
                                   std::span<const std::int64_t> prompt,
                                   const GenerateOptions& options,
                                   const std::function<bool(std::int64_t)>& each = {});

// The text that the model continues a prompt with, without the prompt; <eos> ends it unless
// options.stop is another token. `show` (may be empty) gets every new part as it is made. Throws
// Error as above, and for a prompt that is not UTF-8.
std::string generate(const TextModel& model, std::string_view prompt,
                     const GenerateOptions& options = {},
                     const std::function<void(std::string_view)>& show = {});

}  // namespace sextant
