// The values of options as text, as on the command line: numbers, "yes" and "no", names, lists
// separated by commas.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/text/strings.h"
#include "sextant/core/names.h"
#include "sextant/core/numbers.h"

namespace sextant {

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;

// Throws Error(where, ...) for a text that is no value of the type; ranges are not looked at. For
// bool, std::int64_t, double, lists of the two, and std::string.
template <class T>
T read_option(std::string_view text, std::string_view where);
template <>
bool read_option(std::string_view text, std::string_view where);
template <>
std::int64_t read_option(std::string_view text, std::string_view where);
template <>
double read_option(std::string_view text, std::string_view where);
template <>
std::vector<std::int64_t> read_option(std::string_view text, std::string_view where);
template <>
std::vector<double> read_option(std::string_view text, std::string_view where);
template <>
inline std::string read_option(std::string_view text, std::string_view) {
  return std::string(text);
}

// Returns the text that read_option() reads back.
template <class T>
std::string option_text(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "yes" : "no";
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(name_of(value));
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (kIsList<T>) {
    return joined(value, ",", [](const auto& each) { return option_text(each); });
  } else {
    return shortest(value);
  }
}

}  // namespace sextant
