// A struct as a JSON object by its list of fields, and back.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/json/json.h"
#include "core/options/fields.h"

namespace sextant {

template <class Options>
Json write_structs(const std::vector<Options>& all);

// Appends one key for each field, in their order; enums by their names.
template <class Options, class List = decltype(kFields<Options>)>
void write_fields(Json& json, const Options& options, const List& list = kFields<Options>) {
  const auto write = [&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(options.*field.member)>;
    if constexpr (std::is_enum_v<Member>) {
      json[field.name] = name_of(options.*field.member);
    } else if constexpr (kIsListOfStructs<Member>) {
      json[field.name] = write_structs(options.*field.member);
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

template <class Options>
Json write_structs(const std::vector<Options>& all) {
  Json json = Json::array();
  for (const Options& each : all) json.push_back(to_json(each));
  return json;
}

template <class Options, class List = decltype(kFields<Options>)>
void read_fields(Options& options, const Json& json, std::string_view where,
                 std::span<const std::string_view> required, const List& list = kFields<Options>);

template <class Options>
bool has_field(std::string_view name) {
  bool found = false;
  each_field<Options>(
      [&](const auto& field) { found = found || field.name == name || field.old_name == name; });
  return found;
}

// Reads an array of objects that have no keys other than the fields; all may be absent.
template <class Options>
std::vector<Options> read_structs(const Json& json, const std::string& where) {
  if (!json.is_array())
    throw Error(where, "must be an array, got " + std::string(json.type_name()));
  std::vector<Options> all;
  for (const Json& each : json) {
    const std::string at = where + "[" + std::to_string(all.size()) + "]";
    if (!each.is_object())
      throw Error(at, "must be an object, got " + std::string(each.type_name()));
    for (const auto& [key, value] : each.items()) {
      if (!has_field<Options>(key)) throw Error(at, "must not have the unknown key " + key);
    }
    read_fields(all.emplace_back(), each, at, {});
  }
  return all;
}

// Sets the members whose keys an object has. Throws Error(where, ...) where a key of `required` is
// missing and Error("where.key", ...) for a value of another type; ranges are not looked at.
template <class Options, class List>
void read_fields(Options& options, const Json& json, std::string_view where,
                 std::span<const std::string_view> required, const List& list) {
  const auto read = [&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(options.*field.member)>;
    const Json* found = json.find(field.name);
    if (found == nullptr && !field.old_name.empty()) found = json.find(field.old_name);
    if (found == nullptr) {
      if (std::ranges::find(required, field.name) == required.end()) return;
      throw Error(where, "must have the key " + std::string(field.name));
    }
    const std::string at = std::string(where) + "." + std::string(field.name);
    try {
      if constexpr (std::is_enum_v<Member>) {
        options.*field.member = parse_name<Member>(found->text(), at);
      } else if constexpr (kIsListOfStructs<Member>) {
        options.*field.member = read_structs<typename Member::value_type>(*found, at);
      } else {
        found->get_to(options.*field.member);
      }
    } catch (const JsonError& error) {
      throw Error(at, error.problem());
    }
  };
  std::apply([&](const auto&... field) { (read(field), ...); }, list);
}

}  // namespace sextant
