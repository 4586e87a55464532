// Declares what the parts of `sextant generate` share.
#pragma once

#include <string>

#include "models/generation_words.h"
#include "models/model_option.h"
#include "sextant/models/generate.h"

namespace sextant::app {

struct Generate {
  ModelOption model;
  std::string prompt, fill, stop;
  GenerateOptions options = default_generation();
  std::int64_t alternatives = 0;  // of each token, in JSON
  bool greedy = false;
  bool json = false;
};

inline const std::vector<Wording> kGenerateWords = only<GenerateOptions>(
    {{.field = "max_tokens"}, {.field = "slide"}, {.field = "seed"}, {.field = "cache_type"}});
inline constexpr std::size_t kMaxPromptTokens = 1 << 16;  // each looks at all before it

// Prints the tokens that a masked model predicts for [MASK].
void fill_in(const Generate& command);

}  // namespace sextant::app
