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

}  // namespace sextant::text
