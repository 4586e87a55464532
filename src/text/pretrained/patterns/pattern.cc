// The places of matches are counted from UTF-16 back to bytes.
#include "text/pretrained/patterns/pattern.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "text/pretrained/patterns/regex.h"

namespace sextant::text {
namespace {

void append_stretch(std::vector<Stretch>& all, std::size_t& done, std::size_t begin,
                    std::size_t end) {
  if (done != begin) all.push_back({done, begin, false});
  all.push_back({begin, end, true});
  done = end;
}

}  // namespace

struct Pattern::Impl {
  std::string literal;
  std::unique_ptr<const Regex> regex;
};

std::vector<Stretch> find_characters(std::string_view text,
                                     const std::function<bool(char32_t)>& condition) {
  std::vector<Stretch> all;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (condition(next_character(text, at))) append_stretch(all, done, begin, at);
  }
  if (done != text.size()) all.push_back({done, text.size(), false});
  return all;
}

Pattern Pattern::read(const Field& field) {
  field.allow_keys({"String", "Regex"});
  if (field.json().size() != 1) field.refuse("one of String and Regex");
  if (field.has("String")) return literal(field.text("String"));
  return regex(field.text("Regex"), field["Regex"]);
}

Pattern Pattern::regex(std::string_view pattern, const Field& field) {
  auto impl = std::make_shared<Impl>();
  impl->regex = Regex::compile(pattern, field);
  Pattern made;
  made.impl_ = std::move(impl);
  return made;
}

Pattern Pattern::literal(std::string_view text) {
  auto impl = std::make_shared<Impl>();
  impl->literal = text;
  Pattern made;
  made.impl_ = std::move(impl);
  return made;
}

struct Pattern::Finder::State {
  std::shared_ptr<const Impl> pattern;
  std::unique_ptr<Regex::Search> search;  // nullptr for a literal
};

Pattern::Finder::Finder(const Pattern& pattern) : state_(std::make_unique<State>()) {
  state_->pattern = pattern.impl_;
  if (pattern.impl_->regex != nullptr) state_->search = pattern.impl_->regex->search();
}
Pattern::Finder::~Finder() = default;

std::vector<Stretch> Pattern::Finder::find(std::string_view text) {
  std::vector<Stretch> all;
  std::size_t done = 0;
  State& state = *state_;
  if (state.search == nullptr) {
    const std::string& literal = state.pattern->literal;
    for (std::size_t at = 0; !literal.empty();) {
      at = text.find(literal, at);
      if (at == text.npos) break;
      append_stretch(all, done, at, at + literal.size());
      at += literal.size();
    }
  } else {
    std::int32_t unit = 0;  // of UTF-16, where byte `at` is
    std::size_t at = 0;
    const auto byte_of = [&](std::int32_t target) {
      while (unit < target) {
        const std::size_t bytes = first_character(text.substr(at)).bytes;
        unit += bytes == 4 ? 2 : 1;
        at += bytes;
      }
      return at;
    };
    std::int32_t last = -1;  // where the match before ended
    for (const auto& [begin, end] : state.search->matches(text)) {
      if (begin == end && end == last) continue;  // Oniguruma takes no empty match there
      last = end;
      const std::size_t begin_byte = byte_of(begin);
      append_stretch(all, done, begin_byte, byte_of(end));
    }
  }
  if (done != text.size()) all.push_back({done, text.size(), false});
  return all;
}

std::vector<Stretch> Pattern::find(std::string_view text) const { return Finder(*this).find(text); }

}  // namespace sextant::text
