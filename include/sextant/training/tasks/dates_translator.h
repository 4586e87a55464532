// A small trained translator of dates that is part of the library: no file, no path, no training.
//   translate(dates_translator(), "the third of march nineteen ninety-nine")  ->  "1999-03-03"
#pragma once

#include "sextant/models/model_folder.h"
#include "sextant/models/text_model.h"

namespace sextant {

// Its config, tokenizer and weights (in float16), as a folder would have them:
// src/training/tasks/dates_translator, which scripts/make_dates_translator.py made from
// date_data(). Characters, width 32, two layers of encoder and one of decoder, rotary positions.
ModelFolder dates_model();

// The model, loaded once; any number of threads may use it.
const TextTranslator& dates_translator();

}  // namespace sextant
