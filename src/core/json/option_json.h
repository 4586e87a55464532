// Options in JSON, for controls of a page and for other languages.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/json/json.h"
#include "sextant/core/options.h"

namespace sextant {

// {"type": "number", "exclusive_min": 0}, {"type": "integer", "min": 0, "max": 8, "multiple_of":
// 2},
// {"type": "flag"}, {"type": "choice", "names": [...], "meanings": [...]}, {"type": "text"},
// {"type": "list", "each":
// {...}}. A bound that is not there has no key.
Json json_of(const OptionRange& range);

// Returns {"name": "base", "option": "--base", "default": 10000, "range": "> 0", "values": {...},
// "meaning": ...}: `written` is its name on the command line. "default" is null if a value must be
// given; an optional option has "unset", its word for that, which may also be the "default".
Json json_of(const Option& option, std::string_view written);

// Returns the value of an option: a number, true or false, a list of numbers, a text. The word for
// an unset option stays a text, and so does a text that is no value: "192; translate 256".
Json value_json(const Option& option, std::string_view text);

// The same for those of these options that `texts` has, as an object.
Json values_json(std::span<const Option> options, const std::map<std::string, std::string>& texts);

}  // namespace sextant
