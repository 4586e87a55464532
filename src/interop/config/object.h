// One object of a config.json: typed values, errors that name the key, and which keys were looked
// at.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace sextant::interop {

// Every getter gives nothing where the key is absent or null, and throws Error where its value is
// of another type or out of range.
class ConfigObject {
 public:
  // `json` must be an object and outlive this; `prefix` is "rope_scaling." for an object inside.
  ConfigObject(const Json& json, std::string where, std::string prefix = "")
      : json_(json), where_(std::move(where)), prefix_(std::move(prefix)) {}

  bool has(std::string_view key) const;
  // Returns whether a key is absent: it then has the default of the model type. Neither of these
  // two counts as reading the key.
  bool is_absent(std::string_view key) const;
  bool is_null(std::string_view key) const;  // there, and null
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least = 1) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<double> positive(std::string_view key) const;
  std::optional<bool> flag(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::vector<double>> numbers(std::string_view key) const;
  std::optional<std::vector<std::int64_t>> integers(std::string_view key) const;
  std::optional<std::vector<std::string>> texts(std::string_view key) const;
  std::optional<ConfigObject> object(std::string_view key) const;

  // The one that several spellings of a key give; throws Error when two of them differ.
  std::optional<std::int64_t> integer_of(const std::vector<std::string_view>& keys) const;

  // `by_default` where the key, or each of its spellings, is absent; null is refused.
  std::int64_t integer_or(std::string_view key, std::int64_t by_default,
                          std::int64_t least = 1) const;
  std::int64_t integer_of_or(const std::vector<std::string_view>& keys,
                             std::int64_t by_default) const;
  double number_or(std::string_view key, double by_default) const;
  double positive_or(std::string_view key, double by_default) const;
  bool flag_or(std::string_view key, bool by_default) const;

  template <class T>
  T need(const std::optional<T>& value, std::string_view key) const {
    if (!value) fail(key, "must be given");
    return *value;
  }

  // Says that the object is of a model type that is not known and read as another.
  void set_read_as() noexcept { is_read_as_ = true; }
  // Declares that keys have no effect in this model type, for any value: they count as read, unless
  // the object is of another type.
  void not_used(std::initializer_list<std::string_view> keys) const;

  [[noreturn]] void fail(std::string_view key, const std::string& what) const;
  // Keys that no getter was asked for and that are not null.
  std::vector<const Json::Member*> unread() const;
  // Throws Error for the first of them, unless it has no effect or `model`, the object around, has
  // the same value under the same key.
  void refuse_unread(const std::string& allowed, const ConfigObject& model) const;

  const Json& json() const noexcept { return json_; }
  const std::string& where() const noexcept { return where_; }

 private:
  const Json* find(std::string_view key) const;
  template <class T, class Holds>
  std::optional<T> value(std::string_view key, const std::string& what, const Holds& holds) const;
  template <class T, class Holds>
  std::optional<std::vector<T>> list(std::string_view key, const std::string& kind,
                                     const std::string& range, const Holds& holds) const;
  template <class T>
  T value_or(const std::optional<T>& value, std::string_view key, T by_default) const;

  const Json& json_;
  std::string where_, prefix_;
  bool is_read_as_ = false;
  mutable std::set<std::string, std::less<>> read_;
};

}  // namespace sextant::interop
