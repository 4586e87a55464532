// A gate before the SentencePiece library: it trusts the tables inside a model file, so a broken or
// hostile file is refused here.
#pragma once

#include <string>
#include <string_view>

namespace sextant::text {

// Returns the bytes of a model that the library can load without reading outside its tables,
// printing or ending the process; the model's self-test is skipped, because a failure prints.
// Throws an Error with `where` for anything else.
std::string checked_model(std::string_view bytes, std::string_view where);

// The two halves of a normalisation table: a double-array trie of little-endian 32-bit units and
// the replacement strings that its leaves point to. Throws Error naming `where` unless every
// lookup of any text stays inside both and finds at most 32 rules at one place.
void check_charsmap(std::string_view blob, std::string_view where);

}  // namespace sextant::text
