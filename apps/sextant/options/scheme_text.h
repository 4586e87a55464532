// Schemes and their parameters in one text, the same for every option that names schemes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/layers/scheme_spec.h"

namespace sextant::app {

// Parses "rotary", "rotary_yarn:factor=4:original_length=2048", "rotary:base=500000+t5": parameters
// follow colons, combined schemes are joined by "+". A "+" or a comma within a value is part of it
// unless a letter follows ("1e+5", "1,2,4"). Throws an Error with `where` for unknown names;
// parameters are not checked.
SchemeSpecs parse_position_schemes(std::string_view text, const std::string& where);

// Several of these, separated by commas, with parameters that fit.
std::vector<SchemeSpecs> parse_position_lists(std::string_view text, const std::string& where);
// The same as they are written: names and parameters are not looked at.
std::vector<SchemeSpecs> split_schemes(std::string_view text, const std::string& where);

}  // namespace sextant::app
