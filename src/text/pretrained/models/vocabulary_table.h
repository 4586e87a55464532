// The tokens of a model and their ids, both ways.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "text/pretrained/fields.h"

namespace sextant::text {

class VocabularyTable {
 public:
  VocabularyTable() = default;
  VocabularyTable(VocabularyTable&&) = default;
  VocabularyTable& operator=(VocabularyTable&&) = default;

  // Reads an object of tokens with their ids, 0 .. 2^31 - 1; there may be holes between them.
  // Throws Error for an id of two tokens.
  static VocabularyTable read(const Field& field);

  // Throws Error naming `place` for a token or an id that is there already.
  void add(std::string token, std::uint32_t id, const Field& place);

  std::optional<std::uint32_t> find(std::string_view token) const;
  const std::string* token(std::uint32_t id) const;  // nullptr where there is none
  // Whether a longer token begins with it.
  bool has_beginning(std::string_view text) const;
  std::size_t count() const noexcept { return ids_.size(); }
  std::int64_t size() const noexcept { return size_; }       // the largest id and one
  std::size_t longest() const noexcept { return longest_; }  // bytes of a token

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };
  // Nodes of an unordered_map stay where they are, when it is moved, too.
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> ids_;
  std::unordered_map<std::uint32_t, const std::string*> tokens_;
  std::int64_t size_ = 0;
  std::size_t longest_ = 0;
};

}  // namespace sextant::text
