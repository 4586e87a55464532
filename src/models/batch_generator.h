// Continues prompts together: the loop of generate() and generate_batch().
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sextant/models/generate_batch.h"

namespace sextant::models {

using EachToken = std::function<bool(std::size_t prompt, std::int64_t sample, std::int64_t token)>;

// Throws Error for a model that is not causal and for options out of range.
void check_generation(const LanguageModel<float>& model, const GenerateOptions& options);

// Throws Error(where, ...) for a prompt without tokens, a token outside the vocabulary, and without
// `slide` for a prompt that is longer than the model's positions.
void check_prompt(const LanguageModel<float>& model, std::span<const std::int64_t> prompt,
                  bool slide, const std::string& where);

// Returns the continuations, [prompts][samples], of arguments that are checked.
std::vector<std::vector<GeneratedTokens>> continue_prompts(
    const LanguageModel<float>& model, std::span<const std::span<const std::int64_t>> prompts,
    const GenerateOptions& options, const BatchOptions& batch, const EachToken& each);

}  // namespace sextant::models
