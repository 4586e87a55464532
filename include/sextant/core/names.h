// The names of options' values. Each enum of options has name_of() beside it, which the command
// line, files and Python read back.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sextant {

// An enum whose values count from 0; name_of() of anything past the last is "unknown".
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E value) {
  std::string_view(name_of(value));
};

// The names of all values, in order.
template <NamedEnum E>
std::vector<std::string_view> names_of() {
  std::vector<std::string_view> names;
  while (name_of(static_cast<E>(names.size())) != "unknown") {
    names.push_back(name_of(static_cast<E>(names.size())));
  }
  return names;
}

// The index of `name` in the list; throws Error(where, ...) that lists the names.
std::size_t find_name(std::span<const std::string_view> names, std::string_view name,
                      std::string_view where);

// The value of a name; throws Error(where, ...) that lists the names.
template <NamedEnum E>
E parse_name(std::string_view name, std::string_view where) {
  return static_cast<E>(find_name(names_of<E>(), name, where));
}

}  // namespace sextant
