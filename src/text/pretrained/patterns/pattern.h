// Where a text or a regular expression of a tokenizer.json occurs.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "text/pretrained/aligned_text.h"
#include "text/pretrained/fields.h"

namespace sextant::text {

// Stretches [begin, end) of a text that cover it; those of a match are marked.
struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool match = false;
};

// Single characters that fulfil a condition.
std::vector<Stretch> find_characters(std::string_view text,
                                     const std::function<bool(char32_t)>& condition);

class Pattern {
 public:
  // Reads {"String": "..."} or {"Regex": "..."}. Throws Error for patterns that are
  // not matched as Oniguruma does (pattern_syntax.h).
  static Pattern read(const Field& field);
  static Pattern regex(std::string_view pattern, const Field& field);
  static Pattern literal(std::string_view text);

  // From left to right; no text is looked at twice. Throws Error where matching takes
  // too many steps (regex.h).
  std::vector<Stretch> find(std::string_view text) const;
  // In each of several parts of a text, one after the other.
  class Finder {
   public:
    explicit Finder(const Pattern& pattern);
    ~Finder();
    std::vector<Stretch> find(std::string_view text);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace sextant::text
