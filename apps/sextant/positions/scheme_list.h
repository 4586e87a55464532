// Several schemes in one argument.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/figures/named_scheme.h"

namespace sextant::app {

// "rotary,rotary_yarn:factor=4:original_length=2048": parameters behind colons. What begins with no
// letter goes on with the list of numbers before it. Throws Error for names that are none, and for
// parameters that are missing.
std::vector<figures::NamedScheme> parse_schemes(std::string_view text, const std::string& where);

}  // namespace sextant::app
