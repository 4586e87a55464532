// Reading a stranger's JSON file: an object with each key once, and a list of tokens.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sextant::text {

// Throws Error naming `where` for bytes that are no JSON object (with the byte of the fault) or
// name a key twice, of which the second would silently win.
nlohmann::json parse_object(std::string_view bytes, std::string_view where);

// Throws Error naming `where` unless `list` is a list of texts.
std::vector<std::string> read_tokens(const nlohmann::json& list, std::string_view where);

}  // namespace sextant::text
