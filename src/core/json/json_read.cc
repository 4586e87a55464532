// Texts of JSON, read with limits.
#include <nlohmann/json.hpp>
#include <set>

#include "core/json/json.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

// Applies the limits, and refuses duplicate keys, which the library does not check.
class Guard : public nlohmann::json_sax<nlohmann::json> {
 public:
  Guard(std::string_view where, JsonEvents& events, const JsonLimits& limits)
      : where_(where), events_(events), limits_(limits) {}

  bool null() override {
    count();
    events_.null();
    return true;
  }
  bool boolean(bool value) override {
    count();
    events_.boolean(value);
    return true;
  }
  bool number_integer(number_integer_t value) override {
    count();
    events_.negative(value);
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    count();
    events_.whole(value);
    return true;
  }
  bool number_float(number_float_t value, const std::string&) override {
    count();
    events_.real(value);
    return true;
  }
  bool string(std::string& text) override {
    count();
    events_.string(text);
    return true;
  }
  bool binary(binary_t&) override { return false; }  // not of texts
  bool start_object(std::size_t) override {
    open();
    events_.start_object();
    return true;
  }
  bool key(std::string& text) override {
    if (!keys_.back().insert(text).second) {
      throw Error(where_, "has the key " + printable_quote(text) + " twice in one object");
    }
    events_.key(text);
    return true;
  }
  bool end_object() override {
    keys_.pop_back();
    events_.end_object();
    return true;
  }
  bool start_array(std::size_t) override {
    open();
    events_.start_array();
    return true;
  }
  bool end_array() override {
    keys_.pop_back();
    events_.end_array();
    return true;
  }
  // Without the library's own "[json.exception.parse_error.101] parse error at line 1, column 2: ".
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& problem) override {
    std::string what = problem.what();
    if (const auto bracket = what.find("] "); bracket != std::string::npos) {
      what.erase(0, bracket + 2);
    }
    if (const auto colon = what.find(": ");
        colon != std::string::npos && what.starts_with("parse")) {
      what.erase(0, colon + 2);
    }
    for (char& c : what) c = c >= ' ' && c <= '~' ? c : '?';
    throw Error(where_, "must be valid JSON, got an error at byte " + std::to_string(position) +
                            ": " + what.substr(0, 200));
  }

 private:
  void count() {
    if (++values_ > limits_.values) {
      throw Error(where_,
                  "must have at most " + std::to_string(limits_.values) + " values of JSON");
    }
  }
  void open() {
    count();
    keys_.emplace_back();
    if (keys_.size() > limits_.depth) {
      throw Error(where_, "must have at most " + std::to_string(limits_.depth) + " levels of JSON");
    }
  }

  std::string_view where_;
  JsonEvents& events_;
  JsonLimits limits_;
  std::size_t values_ = 0;
  std::vector<std::set<std::string>> keys_;  // of the arrays and objects that are open
};

// Makes the value of a text.
class Builder : public JsonEvents {
 public:
  Json result;

  void null() override { add(Json()); }
  void boolean(bool value) override { add(value); }
  void whole(std::uint64_t value) override { add(value); }
  void negative(std::int64_t value) override { add(value); }
  void real(double value) override { add(value); }
  void string(std::string& text) override { add(std::move(text)); }
  void key(std::string& text) override { key_ = std::move(text); }
  void start_object() override { open_.push_back(&add(Json::object())); }
  void end_object() override { open_.pop_back(); }
  void start_array() override { open_.push_back(&add(Json::array())); }
  void end_array() override { open_.pop_back(); }

 private:
  // A container grows while none of its elements is open: the places below stay where they are.
  Json& add(Json value) {
    if (open_.empty()) return result = std::move(value);
    Json& into = *open_.back();
    if (into.is_object()) {
      into.append(std::move(key_), std::move(value));
      return into.items().back().value;
    }
    into.push_back(std::move(value));
    return into[into.size() - 1];
  }

  std::vector<Json*> open_;
  std::string key_;
};

}  // namespace

void read_json(std::string_view text, std::string_view where, JsonEvents& events,
               const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    throw Error(where, "must be JSON of at most " + std::to_string(limits.bytes) + " bytes, got " +
                           std::to_string(text.size()));
  }
  // The library takes a zero byte for the end of the text.
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    throw Error(where, "must be valid JSON, got an error at byte " + std::to_string(zero + 1) +
                           ": a zero byte");
  }
  Guard guard(where, events, limits);
  nlohmann::json::sax_parse(text.begin(), text.end(), &guard);
}

Json Json::parse(std::string_view text, std::string_view where, const JsonLimits& limits) {
  Builder builder;
  read_json(text, where, builder, limits);
  return std::move(builder.result);
}

Json Json::parse_object(std::string_view text, std::string_view where, const JsonLimits& limits) {
  Json json = parse(text, where, limits);
  if (json.is_object()) return json;
  throw Error(where, std::string("must be a JSON object, got ") + json.type_name());
}

}  // namespace sextant
