// Declares what the parts of `sextant generate` share.
#pragma once

#include <string>

#include "core/json/json_text.h"
#include "models/generation_words.h"
#include "models/model_option.h"
#include "sextant/models/generate_batch.h"

namespace sextant::app {

struct Generate {
  ModelOption model;
  std::string prompt, file, fill, stop;
  GenerateOptions options = default_generation();
  BatchOptions batch{};
  std::int64_t alternatives = 0;  // of each token, in JSON
  bool greedy = false;
  bool json = false;

  // Whether it prints several texts, one after the other is complete.
  bool is_batch() const { return !file.empty() || batch.samples > 1; }
};

inline const std::vector<Wording> kGenerateWords = only<GenerateOptions>(
    {{.field = "max_tokens"}, {.field = "slide"}, {.field = "seed"}, {.field = "cache_type"}});
inline constexpr std::size_t kMaxPromptTokens = 1 << 16;  // each looks at all before it

// Returns --prompt with its line breaks, or stdin for "-". Throws Error if it is not UTF-8.
std::string prompt_of(const Generate& command);

// Continues the lines of --file, or a prompt several times.
void continue_several(const Generate& command);

// Returns the alternatives to a token: the most probable tokens, with the model's probability and
// the one they were drawn with.
Json alternatives(const GeneratedToken& chosen, const Tokenizer& tokenizer, std::int64_t count);

// Put a prompt and its continuation, and the options of sampling, into an object; `steps` are the
// alternatives to each token.
void put_text(Json& json, const Generate& command, const Tokenizer& tokenizer,
              const std::string& prompt, const std::string& text, const GeneratedTokens& made,
              const Json& steps);
void put_options(Json& json, const Generate& command);

// Prints the tokens that a masked model predicts for [MASK].
void fill_in(const Generate& command);

}  // namespace sextant::app
