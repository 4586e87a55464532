// A struct as a JSON object by its list of fields, and back.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "core/fields.h"
#include "core/json.h"

namespace sextant {

// Appends one key for each field, in their order; enums by their names.
template <class Options, class List = decltype(kFields<Options>)>
void write_fields(Json& json, const Options& options, const List& list = kFields<Options>) {
  const auto write = [&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(options.*field.member)>;
    if constexpr (std::is_enum_v<Member>) {
      json[field.name] = name_of(options.*field.member);
    } else {
      json[field.name] = options.*field.member;
    }
  };
  std::apply([&](const auto&... field) { (write(field), ...); }, list);
}

template <class Options>
Json to_json(const Options& options) {
  Json json = Json::object();
  write_fields(json, options);
  return json;
}

// Sets the members whose keys an object has. Throws Error(where, ...) where a key of `required` is
// missing and Error("where.key", ...) for a value of another type; ranges are not looked at.
template <class Options, class List = decltype(kFields<Options>)>
void read_fields(Options& options, const Json& json, std::string_view where,
                 std::span<const std::string_view> required, const List& list = kFields<Options>) {
  const auto read = [&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(options.*field.member)>;
    const Json* found = json.find(field.name);
    if (found == nullptr && !field.earlier.empty()) found = json.find(field.earlier);
    if (found == nullptr) {
      if (std::ranges::find(required, field.name) == required.end()) return;
      throw Error(where, "must have the key " + std::string(field.name));
    }
    const std::string at = std::string(where) + "." + std::string(field.name);
    try {
      if constexpr (std::is_enum_v<Member>) {
        options.*field.member = parse_name<Member>(found->text(), at);
      } else {
        found->get_to(options.*field.member);
      }
    } catch (const JsonError& error) {
      throw Error(at, error.problem());
    }
  };
  std::apply([&](const auto&... field) { (read(field), ...); }, list);
}

template <class Options>
bool has_field(std::string_view name) {
  bool found = false;
  each_field<Options>(
      [&](const auto& field) { found = found || field.name == name || field.earlier == name; });
  return found;
}

}  // namespace sextant
