// How a name_of() is written: return enum_name(value, {"first", "second"});
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "sextant/core/error.h"

namespace sextant {

// The name of the value, by its index in the enum, "unknown" past the last one.
template <class Enum>
std::string_view enum_name(Enum value, std::initializer_list<std::string_view> names) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names.begin()[index] : std::string_view("unknown");
}

// Throws Error(where, ...) for a number cast to an enum that has no such value.
template <class Enum>
void check_named(std::string_view where, Enum value) {
  if (name_of(value) != "unknown") return;
  throw Error(where,
              "must be one of the named values, got " + std::to_string(static_cast<int>(value)));
}

}  // namespace sextant
