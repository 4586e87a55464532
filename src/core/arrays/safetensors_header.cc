// The header of a .safetensors file. It is read event by event, so that a header of 100 MB takes no
// tree of it, and with all rules of the format: every key once, every value of its type.
#include "core/arrays/safetensors_header.h"

#include <array>
#include <optional>

#include "core/json/json.h"
#include "core/text/strings.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

struct Named {
  std::string_view name;
  DType dtype;
};
constexpr std::array<Named, 13> kNamed = {{{"F64", DType::float64},
                                           {"F32", DType::float32},
                                           {"F16", DType::float16},
                                           {"BF16", DType::bfloat16},
                                           {"I64", DType::int64},
                                           {"I32", DType::int32},
                                           {"I16", DType::int16},
                                           {"I8", DType::int8},
                                           {"U64", DType::uint64},
                                           {"U32", DType::uint32},
                                           {"U16", DType::uint16},
                                           {"U8", DType::uint8},
                                           {"BOOL", DType::boolean}}};
constexpr std::string_view kMetadata = "__metadata__";

// Receives each piece of the text from the JSON parser. Everything unexpected throws.
class Reader : public JsonEvents {
 public:
  explicit Reader(std::string_view where) : where_(where) {}

  SafetensorsHeader header;

  void start_object() override {
    if (state_ == State::outside) return go(State::names);
    if (state_ != State::entry_or_metadata) refuse("an object");
    return go(name_ == kMetadata ? State::metadata : State::entry);
  }
  void key(std::string& text) override {
    if (state_ == State::names) {
      name_ = text;
      key_.clear();
      entry_ = Entry{};
      return go(State::entry_or_metadata);
    }
    key_ = text;
    if (state_ == State::metadata) return;
    if (text != "dtype" && text != "shape" && text != "data_offsets") {
      fail("has the unknown key " + printable_quote(text) +
           ", must be dtype, shape or data_offsets");
    }
  }
  void end_object() override {
    if (state_ == State::names) return go(State::after);
    if (state_ == State::entry) add_entry();
    return go(State::names);
  }
  void start_array() override {
    if (state_ != State::entry || (key_ != "shape" && key_ != "data_offsets")) refuse("an array");
    (key_ == "shape" ? entry_.has_shape : entry_.has_offsets) = true;
    numbers_.clear();
    return go(State::numbers);
  }
  void end_array() override {
    (key_ == "shape" ? entry_.shape : entry_.offsets) = numbers_;
    return go(State::entry);
  }
  void whole(std::uint64_t value) override {
    if (state_ != State::numbers) refuse("a number");
    if (key_ == "shape" && numbers_.size() == kMaxRank) {
      fail("has more than " + std::to_string(kMaxRank) + " axes");
    }
    if (key_ == "data_offsets" && numbers_.size() == 2) fail("must have two data_offsets");
    numbers_.push_back(value);
  }
  void string(std::string& text) override {
    if (state_ == State::metadata) {
      header.metadata[key_] = text;
      return;
    }
    if (state_ != State::entry || key_ != "dtype") refuse("a text");
    for (const Named& each : kNamed) {
      if (each.name == text) entry_.dtype = each.dtype;
    }
    if (entry_.dtype) return;
    fail("has dtype " + printable_quote(text) + ", must be one of " +
         joined(kNamed, ", ", [](const Named& each) { return each.name; }));
  }
  void null() override { refuse("null"); }
  void boolean(bool) override { refuse("true or false"); }
  void negative(std::int64_t) override { refuse("a negative number"); }
  void real(double) override { refuse("a number with a fraction, or too large a one"); }

 private:
  enum class State { outside, names, entry_or_metadata, entry, metadata, numbers, after };
  struct Entry {
    std::optional<DType> dtype;
    bool has_shape = false, has_offsets = false;
    std::vector<std::uint64_t> shape, offsets;
  };

  void go(State state) { state_ = state; }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(where_, "tensor " + printable_quote(name_) + " " + what);
  }
  [[noreturn]] void refuse(const std::string& got) const {
    switch (state_) {
      case State::outside:
      case State::after:
      case State::names:
        throw Error(where_, "has a header that must be a JSON object, got " + got);
      case State::metadata:
        throw Error(where_,
                    "must have strings as metadata, got " + got + " for " + printable_quote(key_));
      case State::entry_or_metadata:
        throw Error(where_, "must have an object for " + printable_quote(name_) + ", got " + got);
      case State::entry:
      case State::numbers:
        break;
    }
    const bool text = key_ == "dtype";
    fail("must have " +
         std::string(text ? "a string as dtype" : "whole numbers of 0 or more as " + key_) +
         ", got " + got);
  }

  void add_entry() {
    if (!entry_.dtype) fail("has no dtype");
    if (!entry_.has_shape) fail("has no shape");
    if (!entry_.has_offsets) fail("has no data_offsets");
    if (entry_.offsets.size() != 2) fail("must have two data_offsets");
    constexpr std::uint64_t kMax = std::uint64_t{1} << 62;
    std::uint64_t product = 1, count = 1;
    std::array<std::int64_t, kMaxRank> sizes{};
    for (std::size_t axis = 0; axis < entry_.shape.size(); ++axis) {
      const std::uint64_t size = entry_.shape[axis];
      if (size > kMax || (size != 0 && product > kMax / size)) {
        fail("has a shape that overflows: more than 2^62 elements");
      }
      if (size != 0) product *= size;
      count *= size;
      sizes[axis] = static_cast<std::int64_t>(size);
    }
    StoredTensor made;
    made.name = name_;
    made.dtype = *entry_.dtype;
    made.shape = Shape(std::span<const std::int64_t>(sizes.data(), entry_.shape.size()));
    made.begin = entry_.offsets[0];
    made.end = entry_.offsets[1];
    if (made.begin > made.end) {
      fail("has data_offsets that run backwards: " + std::to_string(made.begin) + " to " +
           std::to_string(made.end));
    }
    const std::uint64_t size = dtype_size(made.dtype);
    const std::uint64_t bytes = made.end - made.begin;
    if (bytes / size != count || bytes % size != 0) {
      fail("has " + std::to_string(bytes) + " bytes, but is of shape " + made.shape.to_string() +
           " of " + std::string(dtype_name(made.dtype)));
    }
    header.entries.push_back(std::move(made));
  }

  std::string where_;
  State state_ = State::outside;
  std::string name_, key_;
  Entry entry_;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, std::string_view where) {
  if (!json.starts_with('{')) throw Error(where, "has a header that does not begin with {");
  Reader reader(where);
  // Its size alone limits how many values it has, and they are not kept.
  read_json(json, std::string(where) + ", header", reader,
            {.bytes = kLargestSafetensorsHeader, .values = kLargestSafetensorsHeader});
  return std::move(reader.header);
}

std::string format_safetensors_header(const SafetensorsHeader& header) {
  Json json = Json::object();
  if (!header.metadata.empty()) json[std::string(kMetadata)] = header.metadata;
  for (const StoredTensor& entry : header.entries) {
    if (entry.name == kMetadata) {
      throw Error("save_safetensors", "must not have a tensor of the name '__metadata__'");
    }
    Json one;
    for (const Named& each : kNamed) {
      if (each.dtype == entry.dtype) one["dtype"] = each.name;
    }
    one["shape"] = Json::array();
    for (const std::int64_t size : entry.shape) one["shape"].push_back(size);
    one["data_offsets"] = Json::array({entry.begin, entry.end});
    json.append(entry.name, std::move(one));
  }
  std::string text;
  try {
    text = json.dump();
  } catch (const JsonError&) {
    throw Error("save_safetensors", "must have names and metadata in UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kLargestSafetensorsHeader) {
    throw Error("save_safetensors", "must have a header of at most 100000000 bytes, got " +
                                        std::to_string(text.size()));
  }
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return bytes + text;
}

}  // namespace sextant
