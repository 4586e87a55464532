// Untrusted text inside an error message: quoted, short, on one line.
#pragma once

#include <string>
#include <string_view>

namespace sextant::text {

// "text" in double quotes: at most 40 visible characters, control characters and bytes that are
// not UTF-8 shown as '?'.
std::string in_quotes(std::string_view text);

}  // namespace sextant::text
