// A list of tokens in an untrusted JSON file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace sextant::text {

// As many tokens as a model can have.
inline constexpr JsonLimits kTokenFile{.bytes = std::size_t{1} << 28,
                                       .values = std::size_t{1} << 24};

// Throws Error naming `where` unless `list` is a list of texts.
std::vector<std::string> read_tokens(const Json& list, std::string_view where);

}  // namespace sextant::text
