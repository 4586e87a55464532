// Text from a causal language model, token by token.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sextant/models/language_model.h"
#include "sextant/models/sampling.h"

namespace sextant {

struct GenerateOptions {
  std::int64_t max_tokens = 200;  // to generate, >= 1
  SamplingOptions sampling{};
  std::uint32_t seed = 1;
  std::int64_t stop = -1;  // a token that ends the text and is not part of it; -1: none
  int threads = 0;
};

// Continues `prompt` (at least one token), with a KV cache; returns the new tokens. `each` (may be
// empty) is called with every new token; false ends the text after it. At temperature 0 the tokens
// are the most probable ones, whatever the seed. Throws Error for options out of range, a token
// outside the vocabulary, a model that is not causal, or positions that the scheme does not have.
std::vector<std::int64_t> generate(const LanguageModel<float>& model,
                                   std::span<const std::int64_t> prompt,
                                   const GenerateOptions& options,
                                   const std::function<bool(std::int64_t)>& each = {});

}  // namespace sextant
