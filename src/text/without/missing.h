// Throws errors for a missing library.
#pragma once

#include <string_view>

namespace sextant::text {

// Throws Error: "[where] needs LIBRARY, which this build of sextant is without".
[[noreturn]] void throw_missing(std::string_view where, std::string_view library);

}  // namespace sextant::text
