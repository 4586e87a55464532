// Reads the parts of a tokenizer.json strictly: unknown ones are refused with their key and value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"

namespace sextant::text {

// A value of the file and its place there ("normalizer.normalizers[1]"). Every reader throws
// Error(file, "must have ... as PLACE, got ...") for a value of another kind.
class Field {
 public:
  Field(const Json& value, std::string_view file, std::string place)
      : value_(&value), file_(file), place_(std::move(place)) {}

  const Json& json() const noexcept { return *value_; }
  std::string_view file() const noexcept { return file_; }
  const std::string& place() const noexcept { return place_; }

  // For objects. A missing key is an Error for `[]`.
  Field operator[](std::string_view key) const;
  bool has(std::string_view key) const;  // there, and not null
  void allow_keys(std::initializer_list<std::string_view> keys) const;
  std::vector<Field> elements() const;  // of an array
  // Iterates a long list without copying it.
  template <class Use>
  void each_element(Use use) const {
    check_array();
    for (std::size_t i = 0; i < value_->size(); ++i) {
      use(Field((*value_)[i], file_, place_ + "[" + std::to_string(i) + "]"));
    }
  }

  const std::string& text() const;
  // Text that is put in for other text: at most 1024 bytes, for hostile files.
  const std::string& replacement() const;
  bool flag() const;
  std::uint32_t number() const;  // 0 .. 2^31 - 1
  std::string text(std::string_view key) const { return (*this)[key].text(); }
  bool flag(std::string_view key) const { return (*this)[key].flag(); }
  bool flag(std::string_view key, bool otherwise) const { return has(key) ? flag(key) : otherwise; }
  // One of these words; returns its place in the list.
  std::size_t choice(std::initializer_list<std::string_view> words) const;

  // Throws Error: "must have `allowed` as PLACE, got VALUE".
  [[noreturn]] void refuse(std::string_view allowed) const;

 private:
  void check_array() const;

  const Json* value_;
  std::string_view file_;
  std::string place_;
};

}  // namespace sextant::text
