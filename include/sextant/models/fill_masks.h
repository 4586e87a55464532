// Predicts the tokens for [MASK] in a text with a masked model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/models/text_model.h"

namespace sextant {

inline constexpr std::string_view kMask = "[MASK]";

struct FillOptions {
  std::int64_t top_k = 10;                // number of most probable tokens per mask
  std::size_t max_tokens = 1 << 16;       // tokens of the text: each attends to all others
  int threads = 0;                        // as in parallel_for; the numbers do not depend on it
  std::string where = "fill_masks.text";  // the name of the text in errors
};

struct FilledText {
  struct Prediction {
    std::int64_t id;
    std::string token;
    double probability;
  };
  std::string text;  // with the most probable token in every mask
  // Sorted by falling probability, equal ones by token id; only tokens that can be in a text: no
  // special tokens.
  std::vector<std::vector<Prediction>> masks;
};

// Fills the masks of a text, which are kMask, also if the model's token for it differs. Throws
// Error for a text without kMask or of too many tokens, options out of range, and a model that is
// not masked.
FilledText fill_masks(const TextModel& model, std::string_view text,
                      const FillOptions& options = {});

}  // namespace sextant
