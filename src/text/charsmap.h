// Checks the normalisation table of a SentencePiece model before anything is looked up in it.
#pragma once

#include <string_view>

namespace sextant::text {

// The two halves of a normalisation table: a double-array trie of little-endian 32-bit units and
// the replacement strings that its leaves point to. Throws Error naming `where` unless every
// lookup of any text stays inside both and finds at most 32 rules at one place.
void check_charsmap(std::string_view blob, std::string_view where);

}  // namespace sextant::text
