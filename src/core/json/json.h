// Defines a JSON value, the one reader for all texts, and its writer. It is light to include: only
// json_read.cc and json_text.cc use the library.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sextant/core/error.h"

namespace sextant {

class Json;

// Thrown if a key is missing or a value is of another kind. Code that knows the file catches it and
// names the file: throw Error(path, error.problem()).
class JsonError : public Error {
 public:
  explicit JsonError(std::string what) : Error("json", what), problem_(std::move(what)) {}
  const std::string& problem() const noexcept { return problem_; }  // "must have the key 'seed'"

 private:
  std::string problem_;
};

// Limits the memory for a text. A reader that nests a text in another one allows a level less.
struct JsonLimits {
  std::size_t depth = 32;  // levels of arrays and objects
  std::size_t bytes = std::size_t{1} << 24;
  std::size_t values = std::size_t{1} << 21;  // arrays and objects included
};

// How text that is not UTF-8 is written: not at all (JsonError), or with U+FFFD in its place.
enum class JsonBytes { refuse, replace };

// A JSON value. An integer that fits std::int64_t is stored as that, a larger one as std::uint64_t,
// every other number as double; all are equal by value. Keys keep the order in which they were
// written, and objects are equal in any order. Getters throw JsonError.
class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;
  using value_type = Json;  // of begin() and end()
  using iterator = Array::iterator;
  using const_iterator = Array::const_iterator;

  Json() noexcept;  // null
  // Not inline: there are eight kinds to copy, and every file that has a Json would.
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();
  Json(std::nullptr_t) noexcept;
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text) noexcept;
  template <class T>
  requires std::is_arithmetic_v<T> Json(T value)
  noexcept;
  // A list of values, or an object from a map of texts to values.
  template <class Range>
  requires(!std::is_same_v<Range, Json> && !std::is_convertible_v<const Range&, std::string_view> &&
           requires(const Range& range) {
             typename Range::value_type;
             range.begin() != range.end();
           }) Json(const Range& range) {
    using Value = typename Range::value_type;
    if constexpr (requires(const Value& x) { x.first, x.second; }) {
      *this = object();
      for (const auto& [key, value] : range) append(std::string(key), Json(value));
    } else {
      *this = array();
      for (const Value& each : range) push_back(Json(each));
    }
  }
  // {{"key", 1}, {"other", "x"}} is an object: pairs that all begin with a text. Else an array.
  Json(std::initializer_list<Json> values);

  static Json array(std::initializer_list<Json> values = {});
  static Json object();

  // Throws Error(where, "must be valid JSON, got an error at byte 7: ...") for invalid JSON, and
  // Error for a key that an object has twice, a zero byte and more than the limits allow.
  static Json parse(std::string_view text, std::string_view where = "json",
                    const JsonLimits& limits = {});
  // Also throws for texts that are no objects.
  static Json parse_object(std::string_view text, std::string_view where,
                           const JsonLimits& limits = {});
  // On one line, or with `indent` spaces a level; NaN and infinities as null.
  std::string dump(int indent = -1, JsonBytes bytes = JsonBytes::refuse) const;

  bool is_null() const noexcept { return is<std::monostate>(); }
  bool is_boolean() const noexcept { return is<bool>(); }
  bool is_integer() const noexcept { return is<std::int64_t>() || is<std::uint64_t>(); }
  bool is_float() const noexcept { return is<double>(); }
  bool is_number() const noexcept { return is_integer() || is_float(); }
  bool is_string() const noexcept { return is<std::string>(); }
  bool is_array() const noexcept { return is<Array>(); }
  bool is_object() const noexcept { return is<Object>(); }
  bool is_structured() const noexcept { return is_array() || is_object(); }
  // "null", "boolean", "number", "string", "array" or "object".
  const char* type_name() const noexcept;

  std::size_t size() const noexcept;  // 0 for null, 1 for values other than arrays and objects
  bool empty() const noexcept { return size() == 0; }

  // Numbers must fit T, integers have no fraction; std::vector and std::map of types that get()
  // supports.
  template <class T>
  T get() const;
  template <class T>
  void get_to(T& value) const {
    value = get<T>();
  }
  const std::string& text() const;

  // The elements of an array (null has none).
  const_iterator begin() const { return elements().begin(); }
  const_iterator end() const { return elements().end(); }
  iterator begin() { return elements().begin(); }
  iterator end() { return elements().end(); }
  template <std::integral Index>
  const Json& operator[](Index index) const {
    return at(index);
  }
  template <std::integral Index>
  Json& operator[](Index index) {
    return at(index);
  }
  template <std::integral Index>
  const Json& at(Index index) const {
    return element(static_cast<std::size_t>(index));
  }
  template <std::integral Index>
  Json& at(Index index) {
    return const_cast<Json&>(element(static_cast<std::size_t>(index)));
  }
  const Json& front() const { return at(0); }
  const Json& back() const { return at(size() - 1); }
  Json& back() { return at(size() - 1); }
  void push_back(Json value);  // to an array; null becomes one

  // The members of an object (null has none), in their order.
  const Object& items() const&;
  Object& items() &;
  void items() && = delete;
  const Json* find(std::string_view key) const;  // nullptr where it is not
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  const Json& operator[](std::string_view key) const { return at(key); }
  Json& operator[](std::string_view key);  // a new key is null; null becomes an object
  const Json& at(std::string_view key) const;
  Json& at(std::string_view key);
  template <class T>
  T value(std::string_view key, const T& otherwise) const {
    const Json* found = find(key);
    return found == nullptr ? otherwise : found->get<T>();
  }
  std::string value(std::string_view key, const char* otherwise) const {
    return value<std::string>(key, otherwise);
  }
  void append(std::string key, Json value);  // without looking whether the key is there already
  void erase(std::string_view key);
  void erase(std::size_t index);
  void update(const Json& other);  // keys of `other` replace those of this
  void sort_keys();                // of all objects inside, by their bytes

  friend bool operator==(const Json& a, const Json& b);

 private:
  friend class JsonWriter;

  template <class T>
  bool is() const noexcept {
    return std::holds_alternative<T>(value_);
  }
  bool boolean() const;
  double number() const;
  [[noreturn]] void no_integer() const;
  [[noreturn]] void no_container(const char* wanted) const;
  const Json& element(std::size_t index) const;
  const Array& elements() const;
  Array& elements();

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array,
               Object>
      value_;
};

struct Json::Member {
  std::string key;
  Json value;
};

template <class T>
requires std::is_arithmetic_v<T> Json::Json(T value)
noexcept {
  if constexpr (std::is_same_v<T, bool>) {
    value_ = value;
  } else if constexpr (std::is_floating_point_v<T>) {
    value_ = static_cast<double>(value);
  } else if (std::in_range<std::int64_t>(value)) {
    value_ = static_cast<std::int64_t>(value);
  } else {
    value_ = static_cast<std::uint64_t>(value);
  }
}

template <class T>
T Json::get() const {
  if constexpr (std::is_same_v<T, Json>) {
    return *this;
  } else if constexpr (std::is_same_v<T, bool>) {
    return boolean();
  } else if constexpr (std::is_integral_v<T>) {
    if (is<std::int64_t>() && std::in_range<T>(std::get<std::int64_t>(value_))) {
      return static_cast<T>(std::get<std::int64_t>(value_));
    }
    if (is<std::uint64_t>() && std::in_range<T>(std::get<std::uint64_t>(value_))) {
      return static_cast<T>(std::get<std::uint64_t>(value_));
    }
    no_integer();
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(number());
  } else if constexpr (std::is_same_v<T, std::string>) {
    return text();
  } else if constexpr (requires { typename T::mapped_type; }) {
    if (!is_object()) no_container("object");
    T made;
    for (const auto& [key, value] : items()) {
      made.emplace(key, value.template get<typename T::mapped_type>());
    }
    return made;
  } else {
    if (!is_array()) no_container("array");
    T made;
    for (const Json& each : elements()) {
      made.push_back(each.template get<typename T::value_type>());
    }
    return made;
  }
}

std::ostream& operator<<(std::ostream& out, const Json& json);  // on one line

// Receives the parts of a text, piece by piece, if it is too large for a Json.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void null() = 0;
  virtual void boolean(bool value) = 0;
  virtual void whole(std::uint64_t value) = 0;    // digits only
  virtual void negative(std::int64_t value) = 0;  // digits after a minus
  virtual void real(double value) = 0;            // with a fraction or exponent, or too large
  virtual void string(std::string& text) = 0;     // may be moved from, as keys
  virtual void key(std::string& text) = 0;
  virtual void start_object() = 0;
  virtual void end_object() = 0;
  virtual void start_array() = 0;
  virtual void end_array() = 0;
};
// The reader of Json::parse(): throws as that does.
void read_json(std::string_view text, std::string_view where, JsonEvents& events,
               const JsonLimits& limits = {});

// Returns what an error says of a value that was read: a text in quotes, "an array", "an object",
// or the number or word as JSON.
std::string printable_value(const Json& value);

}  // namespace sextant
