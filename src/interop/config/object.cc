// Typed values out of a config.json.
#include "interop/config/object.h"

#include <cmath>
#include <functional>

#include "interop/config/other_keys.h"
#include "sextant/core/error.h"

namespace sextant::interop {
namespace {

bool is_integer(const Json& value, std::int64_t least) {
  if (!value.is_integer() || value.get<double>() > 0x1p60) return false;
  const auto whole = value.get<std::int64_t>();
  return whole >= least && whole <= std::int64_t{1} << 53;
}

}  // namespace

const Json* ConfigObject::find(std::string_view key) const {
  read_.emplace(key);
  const Json* found = json_.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

bool ConfigObject::has(std::string_view key) const { return find(key) != nullptr; }

bool ConfigObject::is_absent(std::string_view key) const { return json_.find(key) == nullptr; }

bool ConfigObject::is_null(std::string_view key) const {
  const Json* found = json_.find(key);
  return found != nullptr && found->is_null();
}

template <class T, class Holds>
std::optional<T> ConfigObject::value(std::string_view key, const std::string& what,
                                     const Holds& holds) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!holds(*value)) fail(key, "must be " + what + ", got " + printable_value(*value));
  return value->get<T>();
}

template <class T, class Holds>
std::optional<std::vector<T>> ConfigObject::list(std::string_view key, const std::string& kind,
                                                 const std::string& range,
                                                 const Holds& holds) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) fail(key, "must be a list of " + kind);
  std::vector<T> list;
  for (const Json& each : *value) {
    if (!holds(each)) {
      fail(key, "must be a list of " + kind + range + ", got " + printable_value(each) + " in it");
    }
    list.push_back(each.get<T>());
  }
  return list;
}

std::optional<std::int64_t> ConfigObject::integer(std::string_view key, std::int64_t least) const {
  return value<std::int64_t>(key, "a whole number of " + std::to_string(least) + " or more",
                             [=](const Json& x) { return is_integer(x, least); });
}

std::optional<double> ConfigObject::number(std::string_view key) const {
  return value<double>(key, "a number", [](const Json& x) {
    return x.is_number() && std::isfinite(x.get<double>());
  });
}

std::optional<double> ConfigObject::positive(std::string_view key) const {
  const auto value = number(key);
  if (value && *value <= 0) fail(key, "must be above 0, got " + printable_value(*find(key)));
  return value;
}

std::optional<bool> ConfigObject::flag(std::string_view key) const {
  return value<bool>(key, "true or false", std::mem_fn(&Json::is_boolean));
}

std::optional<std::string> ConfigObject::text(std::string_view key) const {
  return value<std::string>(key, "a string", std::mem_fn(&Json::is_string));
}

std::optional<std::vector<double>> ConfigObject::numbers(std::string_view key) const {
  auto found = list<double>(key, "numbers", "", std::mem_fn(&Json::is_number));
  if (found && found->empty()) fail(key, "must be a list of numbers");
  return found;
}

std::optional<std::vector<std::int64_t>> ConfigObject::integers(std::string_view key) const {
  auto found = list<std::int64_t>(key, "whole numbers", " of 0 or more",
                                  [](const Json& x) { return is_integer(x, 0); });
  if (found && found->empty()) fail(key, "must be a list of whole numbers");
  return found;
}

std::optional<std::vector<std::string>> ConfigObject::texts(std::string_view key) const {
  return list<std::string>(key, "strings", "", std::mem_fn(&Json::is_string));
}

std::optional<ConfigObject> ConfigObject::object(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) fail(key, "must be an object, got " + printable_value(*value));
  ConfigObject inside(*value, where_, prefix_ + std::string(key) + ".");
  inside.is_read_as_ = is_read_as_;
  return inside;
}

std::optional<std::int64_t> ConfigObject::integer_of(
    const std::vector<std::string_view>& keys) const {
  std::optional<std::int64_t> found;
  std::string_view name;
  for (const std::string_view key : keys) {
    const auto value = integer(key);
    if (value && found && *value != *found) {
      fail(key, "must be the same as " + std::string(name) + ", " + std::to_string(*found) +
                    ", got " + std::to_string(*value));
    }
    if (!value) continue;
    found = value;
    name = key;
  }
  return found;
}

template <class T>
T ConfigObject::value_or(const std::optional<T>& value, std::string_view key, T by_default) const {
  if (!value && is_null(key)) fail(key, "must not be null");
  return value.value_or(by_default);
}

std::int64_t ConfigObject::integer_or(std::string_view key, std::int64_t by_default,
                                      std::int64_t least) const {
  return value_or(integer(key, least), key, by_default);
}

std::int64_t ConfigObject::integer_of_or(const std::vector<std::string_view>& keys,
                                         std::int64_t by_default) const {
  const auto value = integer_of(keys);
  if (!value) {
    for (const std::string_view key : keys) value_or(value, key, by_default);
  }
  return value.value_or(by_default);
}

double ConfigObject::number_or(std::string_view key, double by_default) const {
  return value_or(number(key), key, by_default);
}

double ConfigObject::positive_or(std::string_view key, double by_default) const {
  return value_or(positive(key), key, by_default);
}

bool ConfigObject::flag_or(std::string_view key, bool by_default) const {
  return value_or(flag(key), key, by_default);
}

void ConfigObject::fail(std::string_view key, const std::string& what) const {
  std::string name;  // an untrusted key, shown harmlessly
  for (const char c : (prefix_ + std::string(key)).substr(0, 80))
    name += c >= ' ' && c <= '~' ? c : '?';
  throw Error(where_, name + " " + what);
}

std::vector<const Json::Member*> ConfigObject::unread() const {
  std::vector<const Json::Member*> members;
  for (const Json::Member& member : json_.items()) {
    if (!member.value.is_null() && !read_.contains(member.key)) members.push_back(&member);
  }
  return members;
}

void ConfigObject::not_used(std::initializer_list<std::string_view> keys) const {
  if (is_read_as_) return;
  for (const std::string_view key : keys) read_.emplace(key);
}

void ConfigObject::refuse_unread(const std::string& allowed, const ConfigObject& model) const {
  for (const auto* each : unread()) {
    if (has_no_effect(each->key, each->value)) continue;
    const Json* same = model.json_.find(each->key);
    if (same != nullptr && *same == each->value) continue;
    fail(each->key, "is not known here: " + allowed);
  }
}

}  // namespace sextant::interop
