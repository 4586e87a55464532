// A small trained translator of dates that is part of the library: no file, no path, no training.
//   translate(dates_translator(), "the third of march nineteen ninety-nine")  ->  "1999-03-03"
#pragma once

#include <string_view>

#include "sextant/models/model_folder.h"
#include "sextant/models/text_model.h"

namespace sextant {

// What it was taught. Of any other text, a date of another year too, it writes some date of these
// years, and may be as sure of it.
inline constexpr std::string_view kDatesTaught = "English dates of the years 1900 to 2099";

// Its config, tokenizer and weights (in float16), as a folder would have them:
// src/training/tasks/dates_translator, which scripts/make_dates_translator.py made from
// date_data(). Characters, width 32, two layers of encoder and one of decoder, rotary positions.
ModelFolder dates_model();

// The model, loaded once; any number of threads may use it.
const TextTranslator& dates_translator();

}  // namespace sextant
