// What a masked model would put where a text has [MASK].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/models/text_model.h"

namespace sextant {

inline constexpr std::string_view kMask = "[MASK]";

struct FillOptions {
  std::int64_t guesses = 10;              // of a hole, the most probable ones
  std::size_t max_tokens = 1 << 16;       // of the text: each looks at all others
  int threads = 0;                        // as in parallel_for; the numbers do not depend on it
  std::string where = "fill_masks.text";  // what errors call the text
};

struct FilledText {
  struct Guess {
    std::int64_t id;
    std::string token;
    double probability;
  };
  std::string text;  // with the most probable token in every hole
  // By falling probability, equal ones by token id; of tokens that stand in a text alone: no
  // special tokens.
  std::vector<std::vector<Guess>> holes;
};

// A text has kMask for each hole, whatever the model's own token for it. Throws Error for a text
// without kMask or of too many tokens, options out of range, and a model that is not masked.
FilledText fill_masks(const TextModel& model, std::string_view text,
                      const FillOptions& options = {});

}  // namespace sextant
