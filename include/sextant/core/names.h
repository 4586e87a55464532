// Names the values of enums. Each enum of options has a function name_of(); the command line, files
// and Python read the names back.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sextant {

// An enum whose values count from 0; name_of() returns "unknown" after the last value.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E value) {
  std::string_view(name_of(value));
};

// Returns the names of all values, in order.
template <NamedEnum E>
std::vector<std::string_view> names_of() {
  std::vector<std::string_view> names;
  while (name_of(static_cast<E>(names.size())) != "unknown") {
    names.push_back(name_of(static_cast<E>(names.size())));
  }
  return names;
}

// Returns the index of `name` in the list; throws an Error(where, ...) that lists the names.
std::size_t find_name(std::span<const std::string_view> names, std::string_view name,
                      std::string_view where);

// Returns the value of a name; throws an Error(where, ...) that lists the names.
template <NamedEnum E>
E parse_name(std::string_view name, std::string_view where) {
  return static_cast<E>(find_name(names_of<E>(), name, where));
}

}  // namespace sextant
