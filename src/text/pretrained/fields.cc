// Strict reading: an option that changes ids must not be passed over.
#include "text/pretrained/fields.h"

#include <algorithm>

#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant::text {
void Field::refuse(std::string_view allowed) const {
  throw Error(file_, "must have " + std::string(allowed) + " as " + place_ + ", got " +
                         printable_value(*value_));
}

Field Field::operator[](std::string_view key) const {
  if (!value_->is_object()) refuse("an object");
  const std::string place = place_.empty() ? std::string(key) : place_ + "." + std::string(key);
  const Json* found = value_->find(key);
  if (found == nullptr) throw Error(file_, "must have the key " + place);
  return {*found, file_, place};
}

bool Field::has(std::string_view key) const {
  if (!value_->is_object()) refuse("an object");
  const Json* found = value_->find(key);
  return found != nullptr && !found->is_null();
}

void Field::allow_keys(std::initializer_list<std::string_view> keys) const {
  if (!value_->is_object()) refuse("an object");
  for (const auto& [key, value] : value_->items()) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    std::string allowed;
    for (const std::string_view each : keys) {
      allowed += (allowed.empty() ? "" : ", ") + std::string(each);
    }
    throw Error(file_, "must have no key but " + allowed + " in " +
                           (place_.empty() ? "the file" : place_) + ", got " +
                           printable_quote(key) + " with " + printable_value(value));
  }
}

void Field::check_array() const {
  if (!value_->is_array()) refuse("an array");
}

std::vector<Field> Field::elements() const {
  std::vector<Field> all;
  each_element([&](const Field& each) { all.push_back(each); });
  return all;
}

const std::string& Field::replacement() const {
  constexpr std::size_t kLongest = 1024;
  if (text().size() > kLongest) refuse("at most 1024 bytes");
  return text();
}

const std::string& Field::text() const {
  if (!value_->is_string()) refuse("text");
  return value_->text();
}

bool Field::flag() const {
  if (!value_->is_boolean()) refuse("true or false");
  return value_->get<bool>();
}

std::uint32_t Field::number() const {
  constexpr std::int64_t kLargest = 0x7fffffff;
  if (!value_->is_integer()) refuse("an integer of 0 .. 2147483647");
  try {
    const auto number = value_->get<std::int64_t>();
    if (number >= 0 && number <= kLargest) return static_cast<std::uint32_t>(number);
  } catch (const JsonError&) {  // larger than that
  }
  refuse("an integer of 0 .. 2147483647");
}

std::size_t Field::choice(std::initializer_list<std::string_view> words) const {
  if (value_->is_string()) {
    const auto* found = std::ranges::find(words, value_->text());
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  }
  std::string allowed = words.size() > 1 ? "one of " : "";
  for (const std::string_view each : words) {
    allowed += (each == *words.begin() ? "" : ", ") + std::string(each);
  }
  refuse(allowed);
}

}  // namespace sextant::text
