// Regular expressions of a tokenizer.json, matched by ICU (text/libraries) or by the browser
// (text/browser).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "text/pretrained/fields.h"

namespace sextant::text {

class Regex {
 public:
  // Reads Oniguruma's syntax (pattern_syntax.h). Throws Error for an expression that the library
  // does not know; `field` is its place.
  static std::unique_ptr<const Regex> compile(std::string_view pattern, const Field& field);
  virtual ~Regex() = default;

  struct Match {
    std::int32_t begin;  // units of UTF-16, [begin, end)
    std::int32_t end;
  };
  // Searches several texts one after the other. The Regex outlives it.
  class Search {
   public:
    virtual ~Search() = default;
    // Of valid UTF-8, from left to right; empty ones too. Throws Error("tokenizer.text") where ICU
    // takes more than 100 steps a byte of all the texts (and 10 million). A browser has no limit.
    virtual std::vector<Match> matches(std::string_view text) = 0;
  };
  virtual std::unique_ptr<Search> search() const = 0;
};

}  // namespace sextant::text
