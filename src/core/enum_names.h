// The names of enumerators, one table per enum, used for printing and for parsing: what defines
// name_of() and parse_name() of a scheme's options. Only the files that list names include it.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/quoted_text.h"
#include "sextant/core/error.h"
#include "sextant/core/names.h"

namespace sextant {
namespace {

// In the order of the enum.
template <class T>
inline constexpr std::array<std::string_view, 0> kNames = {};

template <class T>
std::string_view name(T value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < kNames<T>.size() ? kNames<T>[index] : std::string_view("unknown");
}

}  // namespace

template <class T>
T parse_name(std::string_view name, std::string_view where) {
  std::string allowed;
  for (std::size_t i = 0; i < kNames<T>.size(); ++i) {
    if (kNames<T>[i] == name) return static_cast<T>(i);
    allowed += (i == 0 ? "" : ", ") + std::string(kNames<T>[i]);
  }
  throw Error(where, "must be one of " + allowed + ", got " + quoted_text(name));
}

}  // namespace sextant
