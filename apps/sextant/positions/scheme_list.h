// Several schemes in one argument.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/figures/named_scheme.h"

namespace sextant::app {

// "rotary,rotary_yarn:factor=4:original_length=2048" as scheme_text.h reads it. Throws Error for
// names that are none, parameters that are missing, and schemes joined by "+".
std::vector<figures::NamedScheme> parse_schemes(std::string_view text, const std::string& where);

}  // namespace sextant::app
