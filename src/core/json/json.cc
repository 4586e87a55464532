// Implements values of JSON and access to their parts.
#include "core/json/json.h"

#include <algorithm>
#include <ostream>

#include "sextant/core/printable.h"

namespace sextant {
namespace {

[[noreturn]] void wrong_kind(const char* wanted, const Json& got) {
  throw JsonError(std::string("must have a value of kind ") + wanted + ", got " + got.type_name());
}

}  // namespace

Json::Json() noexcept = default;
Json::Json(std::nullptr_t) noexcept {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) noexcept : value_(std::move(text)) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(std::initializer_list<Json> values) {
  const bool pairs = std::all_of(values.begin(), values.end(), [](const Json& value) {
    return value.is_array() && value.size() == 2 && value[0].is_string();
  });
  if (!pairs) {
    value_ = Array(values);
    return;
  }
  Object members;
  for (const Json& pair : values) members.push_back({pair[0].text(), pair[1]});
  value_ = std::move(members);
}

Json Json::array(std::initializer_list<Json> values) {
  Json json;
  json.value_ = Array(values);
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

const char* Json::type_name() const noexcept {
  if (is_null()) return "null";
  if (is_boolean()) return "boolean";
  if (is_number()) return "number";
  if (is_string()) return "string";
  return is_array() ? "array" : "object";
}

std::size_t Json::size() const noexcept {
  if (is_null()) return 0;
  if (const Array* array = std::get_if<Array>(&value_)) return array->size();
  if (const Object* object = std::get_if<Object>(&value_)) return object->size();
  return 1;
}

bool Json::boolean() const {
  if (!is_boolean()) wrong_kind("boolean", *this);
  return std::get<bool>(value_);
}

double Json::number() const {
  if (is<std::int64_t>()) return static_cast<double>(std::get<std::int64_t>(value_));
  if (is<std::uint64_t>()) return static_cast<double>(std::get<std::uint64_t>(value_));
  if (!is_float()) wrong_kind("number", *this);
  return std::get<double>(value_);
}

void Json::no_integer() const {
  if (!is_number()) wrong_kind("number", *this);
  throw JsonError("must have a whole number in range, got " + dump());
}

void Json::no_container(const char* wanted) const { wrong_kind(wanted, *this); }

const std::string& Json::text() const {
  if (!is_string()) wrong_kind("string", *this);
  return std::get<std::string>(value_);
}

const Json::Array& Json::elements() const {
  static const Array kNone;
  if (is_null()) return kNone;
  if (!is_array()) wrong_kind("array", *this);
  return std::get<Array>(value_);
}

Json::Array& Json::elements() {
  if (is_null()) value_ = Array();
  if (!is_array()) wrong_kind("array", *this);
  return std::get<Array>(value_);
}

const Json& Json::element(std::size_t index) const {
  const Array& array = elements();
  if (index >= array.size()) {
    throw JsonError("must have an element " + std::to_string(index) + ", got " +
                    std::to_string(array.size()) + " elements");
  }
  return array[index];
}

void Json::push_back(Json value) { elements().push_back(std::move(value)); }

const Json::Object& Json::items() const& {
  static const Object kNone;
  if (is_null()) return kNone;
  if (!is_object()) wrong_kind("object", *this);
  return std::get<Object>(value_);
}

Json::Object& Json::items() & {
  if (is_null()) value_ = Object();
  if (!is_object()) wrong_kind("object", *this);
  return std::get<Object>(value_);
}

const Json* Json::find(std::string_view key) const {
  const Object* object = std::get_if<Object>(&value_);
  if (object == nullptr) return nullptr;
  const auto found = std::ranges::find(*object, key, &Member::key);
  return found == object->end() ? nullptr : &found->value;
}

Json& Json::operator[](std::string_view key) {
  Object& members = items();
  if (const Json* found = find(key)) return const_cast<Json&>(*found);
  members.push_back({std::string(key), Json()});
  return members.back().value;
}

const Json& Json::at(std::string_view key) const {
  if (!is_object()) wrong_kind("object", *this);
  const Json* found = find(key);
  if (found == nullptr) throw JsonError("must have the key " + printable_quote(key));
  return *found;
}

Json& Json::at(std::string_view key) { return const_cast<Json&>(std::as_const(*this).at(key)); }

void Json::append(std::string key, Json value) {
  items().push_back({std::move(key), std::move(value)});
}

void Json::erase(std::string_view key) {
  std::erase_if(items(), [key](const Member& member) { return member.key == key; });
}

void Json::erase(std::size_t index) {
  element(index);
  elements().erase(elements().begin() + static_cast<std::ptrdiff_t>(index));
}

void Json::update(const Json& other) {
  for (const auto& [key, value] : other.items()) (*this)[key] = value;
}

void Json::sort_keys() {
  if (Array* array = std::get_if<Array>(&value_)) {
    for (Json& each : *array) each.sort_keys();
  } else if (Object* object = std::get_if<Object>(&value_)) {
    std::ranges::sort(*object, {}, &Member::key);
    for (Member& member : *object) member.value.sort_keys();
  }
}

bool operator==(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number() && (a.is_float() || b.is_float())) {
    return a.number() == b.number();
  }
  if (a.value_.index() != b.value_.index() || a.size() != b.size()) return false;
  if (a.is_array()) return a.elements() == b.elements();
  if (a.is_string()) return a.text() == b.text();
  if (a.is_boolean()) return a.boolean() == b.boolean();
  if (a.is<std::int64_t>()) return a.get<std::int64_t>() == b.get<std::int64_t>();
  if (a.is<std::uint64_t>()) return a.get<std::uint64_t>() == b.get<std::uint64_t>();
  if (a.is_null()) return true;
  using Members = std::vector<const Json::Member*>;
  const auto sorted = [](const Json& json) {
    Members members;
    for (const Json::Member& member : json.items()) members.push_back(&member);
    std::ranges::sort(members, {},
                      [](const Json::Member* m) -> const std::string& { return m->key; });
    return members;
  };
  return std::ranges::equal(sorted(a), sorted(b), [](const Json::Member* x, const Json::Member* y) {
    return x->key == y->key && x->value == y->value;
  });
}

std::ostream& operator<<(std::ostream& out, const Json& json) {
  return out << json.dump(-1, JsonBytes::replace);
}

std::string printable_value(const Json& value) {
  if (value.is_string()) return printable_quote(value.text());
  if (value.is_structured()) return value.is_array() ? "an array" : "an object";
  return value.dump();
}

}  // namespace sextant
