// The options of generation and translation from the lists of fields: for the command line and
// Python.
#pragma once

#include <vector>

#include "core/field_words.h"
#include "models/generation_fields.h"

namespace sextant {

inline const std::vector<Wording> kSearchWords = {{.field = "beams", .option = "--beam"},
                                                  {.field = "bos", .hidden = true},
                                                  {.field = "eos", .hidden = true}};

// Of text that a person reads: a little less random than the model's own distribution.
inline GenerateOptions default_generation() { return {.sampling = {.temperature = 0.8}}; }

}  // namespace sextant
