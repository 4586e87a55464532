// What both users of the SentencePiece library need: its silence and its complaints.
#pragma once

#include <sentencepiece_processor.h>

#include <string>

namespace sextant::text {

// The library writes its progress to stderr unless told not to, for the whole process. The first
// call tells it; later ones cost nothing.
void silence_sentencepiece();

// The library's complaint without its file, line and condition.
std::string complaint(const sentencepiece::util::Status& status);

}  // namespace sextant::text
