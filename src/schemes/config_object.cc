// Typed values out of a config.json.
#include "schemes/config_object.h"

#include <cmath>

#include "core/quoted_text.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

std::string shown(const ConfigJson& value) {
  if (value.is_string()) return quoted_text(value.get_ref<const std::string&>());
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return value.dump();
}

bool is_integer(const ConfigJson& value, std::int64_t least) {
  if (value.is_number_unsigned()) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
    return value.get<std::uint64_t>() <= kMost && value.get<std::int64_t>() >= least;
  }
  return value.is_number_integer() && value.get<std::int64_t>() >= least;
}

}  // namespace

ConfigJson parse_config_json(std::string_view text, std::string_view where) {
  constexpr int kDeepest = 32;
  std::vector<std::set<std::string, std::less<>>> keys;  // of the objects that are open
  const auto check = [&](int depth, ConfigJson::parse_event_t event, ConfigJson& value) {
    if (event == ConfigJson::parse_event_t::object_start) {
      keys.emplace_back();
    } else if (event == ConfigJson::parse_event_t::object_end) {
      keys.pop_back();
    } else if (event == ConfigJson::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys.back().insert(key).second) {
        throw Error(where, "has the key " + quoted_text(key) + " twice in one object");
      }
    }
    if (depth > kDeepest) throw Error(where, "must have at most 32 levels of JSON");
    return true;
  };
  // The parser would take a zero byte for the end of the text.
  if (text.find('\0') != std::string_view::npos) throw Error(where, "has a zero byte");
  ConfigJson json;
  try {
    json = ConfigJson::parse(text.begin(), text.end(), check);
  } catch (const ConfigJson::exception& problem) {
    std::string what = problem.what();
    if (const auto bracket = what.find("] "); bracket != std::string::npos) {
      what.erase(0, bracket + 2);
    }
    for (char& c : what) c = c >= ' ' && c <= '~' ? c : '?';
    throw Error(where, "must be JSON: " + what.substr(0, 200));
  }
  if (!json.is_object()) throw Error(where, "must be a JSON object, got " + shown(json));
  return json;
}

const ConfigJson* ConfigObject::find(std::string_view key) const {
  read_.emplace(key);
  const auto found = json_.find(std::string(key));
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

bool ConfigObject::has(std::string_view key) const { return find(key) != nullptr; }

std::optional<std::int64_t> ConfigObject::integer(std::string_view key, std::int64_t least) const {
  const ConfigJson* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!is_integer(*value, least)) {
    fail(key,
         "must be a whole number of " + std::to_string(least) + " or more, got " + shown(*value));
  }
  return value->get<std::int64_t>();
}

std::optional<double> ConfigObject::number(std::string_view key) const {
  const ConfigJson* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number() || !std::isfinite(value->get<double>())) {
    fail(key, "must be a number, got " + shown(*value));
  }
  return value->get<double>();
}

std::optional<double> ConfigObject::positive(std::string_view key) const {
  const auto value = number(key);
  if (value && *value <= 0) fail(key, "must be above 0, got " + shown(*find(key)));
  return value;
}

std::optional<bool> ConfigObject::flag(std::string_view key) const {
  const ConfigJson* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) fail(key, "must be true or false, got " + shown(*value));
  return value->get<bool>();
}

std::optional<std::string> ConfigObject::text(std::string_view key) const {
  const ConfigJson* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) fail(key, "must be a text, got " + shown(*value));
  return value->get<std::string>();
}

std::optional<std::vector<double>> ConfigObject::numbers(std::string_view key) const {
  const ConfigJson* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array() || value->empty()) fail(key, "must be a list of numbers");
  std::vector<double> list;
  for (const ConfigJson& each : *value) {
    if (!each.is_number()) fail(key, "must be a list of numbers, got " + shown(each) + " in it");
    list.push_back(each.get<double>());
  }
  return list;
}

std::optional<std::vector<std::int64_t>> ConfigObject::integers(std::string_view key) const {
  const ConfigJson* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array() || value->empty()) fail(key, "must be a list of whole numbers");
  std::vector<std::int64_t> list;
  for (const ConfigJson& each : *value) {
    if (!is_integer(each, 0)) {
      fail(key, "must be a list of whole numbers of 0 or more, got " + shown(each) + " in it");
    }
    list.push_back(each.get<std::int64_t>());
  }
  return list;
}

std::optional<std::vector<std::string>> ConfigObject::texts(std::string_view key) const {
  const ConfigJson* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) fail(key, "must be a list of texts");
  std::vector<std::string> list;
  for (const ConfigJson& each : *value) {
    if (!each.is_string()) fail(key, "must be a list of texts, got " + shown(each) + " in it");
    list.push_back(each.get<std::string>());
  }
  return list;
}

std::optional<ConfigObject> ConfigObject::object(std::string_view key) const {
  const ConfigJson* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) fail(key, "must be an object, got " + shown(*value));
  return ConfigObject(*value, where_, prefix_ + std::string(key) + ".");
}

std::optional<std::int64_t> ConfigObject::integer_of(
    std::initializer_list<std::string_view> keys) const {
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

void ConfigObject::fail(std::string_view key, const std::string& what) const {
  std::string name;  // a stranger's key, shown harmlessly
  for (const char c : (prefix_ + std::string(key)).substr(0, 80))
    name += c >= ' ' && c <= '~' ? c : '?';
  throw Error(where_, name + " " + what);
}

std::vector<std::string> ConfigObject::unread() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json_.items()) {
    if (!value.is_null() && !read_.contains(key)) keys.push_back(key);
  }
  return keys;
}

void ConfigObject::refuse_unread(const std::string& allowed) const {
  for (const std::string& key : unread()) fail(key, "is not known here: " + allowed);
}

}  // namespace sextant
