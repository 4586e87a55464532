// Continues several prompts with a causal language model at once, each with one sample or several.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/models/generate.h"

namespace sextant {

struct BatchOptions {
  std::int64_t samples = 1;      // continuations of each prompt, >= 1
  std::int64_t batch_size = 32;  // continuations that are decoded together, >= 1
  // Names of the prompts in errors, one for each; empty: "generate.prompts[0]" and so on.
  std::vector<std::string> names{};
};

// Returns the seed of a sample, the same for every prompt: seed + sample, modulo 2^32. Sample 0 has
// the seed itself.
std::uint32_t sample_seed(std::uint32_t seed, std::int64_t sample) noexcept;

// Continues every prompt `samples` times; returns [prompts][samples]. Sample j of a prompt has the
// tokens, bit for bit, that generate() gives for this prompt alone with sample_seed(options.seed,
// j): they do not depend on the other prompts, their order, batch_size or the threads.
//
// One pass of the stack reads the next token of up to batch_size continuations, whose products have
// as many rows; each attends to its own KV cache. When one ends, the next begins. A prompt is read
// once for all its samples.
//
// `each` (may be empty) is called with the indices of prompt and sample and every new token; false
// ends this continuation after it. options.watch gets the indices too. Throws Error as generate(),
// for no prompts, and for names that are not one for each prompt; the error of a prompt has its
// name.
std::vector<std::vector<GeneratedTokens>> generate_batch(
    const LanguageModel<float>& model, std::span<const std::vector<std::int64_t>> prompts,
    const GenerateOptions& options, const BatchOptions& batch = {},
    const std::function<bool(std::size_t prompt, std::int64_t sample, std::int64_t token)>& each =
        {});

struct GeneratedText : GeneratedTokens {
  std::string text;  // without the prompt
};

// Does the same for texts, with for_text(). `stop` ends a text and is not part of it (its tokens
// are among the tokens); empty: none. Throws Error as above, and for a prompt that is not UTF-8 or
// has more than max_prompt_tokens tokens.
std::vector<std::vector<GeneratedText>> generate_batch(const TextModel& model,
                                                       std::span<const std::string> prompts,
                                                       const GenerateOptions& options = {},
                                                       const BatchOptions& batch = {},
                                                       std::string_view stop = {},
                                                       std::size_t max_prompt_tokens = SIZE_MAX);

}  // namespace sextant
