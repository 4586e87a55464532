// How a name_of() is written: return enum_name(value, {"first", "second"});
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace sextant {

// The name at the value's place in the order of the enum, "unknown" past the last one.
template <class Enum>
std::string_view enum_name(Enum value, std::initializer_list<std::string_view> names) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names.begin()[index] : std::string_view("unknown");
}

}  // namespace sextant
