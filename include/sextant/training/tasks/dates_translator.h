// Provides a small trained translator of dates that is part of the library, without a file or
// training.
//   translate(dates_translator(), "the third of march nineteen ninety-nine")  ->  "1999-03-03"
#pragma once

#include <string_view>

#include "sextant/models/model_folder.h"
#include "sextant/models/text_model.h"

namespace sextant {

// A description of its training data. For any other text, also a date of another year, it writes
// some date of these years, and may be as sure of it.
inline constexpr std::string_view kDatesTaught = "English dates of the years 1900 to 2099";

// Returns its config, tokenizer and weights (in float16), as in a folder:
// src/training/tasks/dates_translator, which scripts/make_dates_translator.py made from
// date_data(). Characters, width 32, two layers of encoder and one of decoder, rotary positions.
ModelFolder dates_model();

// Returns the model, loaded once; any number of threads may use it.
const TextTranslator& dates_translator();

}  // namespace sextant
