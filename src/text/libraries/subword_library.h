// Provides what both users of the SentencePiece library need: it silences the library and converts
// its errors.
#pragma once

#include <sentencepiece_processor.h>

#include <string>

namespace sextant::text {

// The library writes its progress to stderr by default, for the whole process. The first call
// switches that off; later ones cost nothing.
void silence_sentencepiece();

// The library's complaint without its file, line and condition.
std::string complaint(const sentencepiece::util::Status& status);

}  // namespace sextant::text
