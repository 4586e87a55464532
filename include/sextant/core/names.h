// The names of options' values. Each enum of options has name_of() beside it.
#pragma once

#include <string_view>

namespace sextant {

// The value of a name; throws Error that lists the names. T is an enum that has name_of().
template <class T>
T parse_name(std::string_view name, std::string_view where);

}  // namespace sextant
