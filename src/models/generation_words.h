// The options of generation and translation from the lists of fields: for the command line and
// Python.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/options/field_words.h"
#include "models/generation_fields.h"

namespace sextant {

inline const std::vector<Wording> kSearchWords = {{.field = "bos", .hidden = true},
                                                  {.field = "eos", .hidden = true}};

// Returns the message for `cut` of `texts` texts that ended with the model's positions; of one text
// with `made` tokens. `slide` is the option that continues, in the caller's spelling.
inline std::string end_of_positions(const LanguageModel<float>& model, std::size_t made,
                                    std::string_view slide, std::size_t cut = 1,
                                    std::size_t texts = 1) {
  const std::string end = std::to_string(model.positions.max_length());
  const std::string what =
      texts == 1
          ? "the text ends after " + std::to_string(made) + (made == 1 ? " token" : " tokens") + ","
          : std::to_string(cut) + " of " + std::to_string(texts) + " texts end";
  return what + " where the positions of the model (" + names_of(model.config.schemes) +
         ") end: " + end + " tokens with the prompt; " + std::string(slide) +
         " continues with each token from the last " + end;
}

// Returns options for text that a person reads: a little less random than the model's own
// distribution.
inline GenerateOptions default_generation() { return {.sampling = {.temperature = 0.8}}; }

}  // namespace sextant
