// Matches in UTF-16, which ICU is fastest on; the places are counted back to bytes on the way.
#include "text/libraries/pretrained/pattern.h"

#include <unicode/regex.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "sextant/core/error.h"
#include "text/libraries/pretrained/pattern_syntax.h"

namespace sextant::text {
namespace {

constexpr std::int32_t kStack = 1 << 26;  // bytes
// ICU calls back every 10000 steps or so.
constexpr std::int64_t kFreeCalls = 1000;
constexpr std::int64_t kBytesPerCall = 100;

// Counts the calls of a match; the steps of all matches in a text count together.
struct Budget {
  std::int64_t left = kFreeCalls;
  static UBool spend(const void* context, std::int32_t) {
    auto& budget = *static_cast<Budget*>(const_cast<void*>(context));
    return --budget.left > 0;
  }
};

void append_stretch(std::vector<Stretch>& all, std::size_t& done, std::size_t begin,
                    std::size_t end) {
  if (done != begin) all.push_back({done, begin, false});
  all.push_back({begin, end, true});
  done = end;
}

}  // namespace

struct Pattern::Impl {
  std::string literal;
  std::unique_ptr<icu::RegexPattern> regex;
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
  UErrorCode status = U_ZERO_ERROR;
  UParseError place;
  impl->regex.reset(icu::RegexPattern::compile(
      icu::UnicodeString::fromUTF8(icu_pattern(pattern, field)), place, status));
  if (U_FAILURE(status)) {
    throw Error(field.file(), "must have a regular expression that ICU knows as " + field.place() +
                                  ", got " + u_errorName(status));
  }
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
  std::unique_ptr<icu::RegexMatcher> matcher;
  icu::UnicodeString text;
  Budget budget;
};

Pattern::Finder::Finder(const Pattern& pattern) : state_(std::make_unique<State>()) {
  state_->pattern = pattern.impl_;
  if (pattern.impl_->regex == nullptr) return;
  UErrorCode status = U_ZERO_ERROR;
  state_->matcher.reset(pattern.impl_->regex->matcher(status));
  if (U_SUCCESS(status)) state_->matcher->setStackLimit(kStack, status);
  if (U_SUCCESS(status)) state_->matcher->setMatchCallback(&Budget::spend, &state_->budget, status);
  if (U_FAILURE(status)) {
    throw Error("tokenizer", std::string("ICU reports ") + u_errorName(status));
  }
}
Pattern::Finder::~Finder() = default;

std::vector<Stretch> Pattern::Finder::find(std::string_view text) {
  std::vector<Stretch> all;
  std::size_t done = 0;
  State& state = *state_;
  if (state.matcher == nullptr) {
    const std::string& literal = state.pattern->literal;
    for (std::size_t at = 0; !literal.empty();) {
      at = text.find(literal, at);
      if (at == text.npos) break;
      append_stretch(all, done, at, at + literal.size());
      at += literal.size();
    }
  } else {
    state.budget.left += static_cast<std::int64_t>(text.size()) / kBytesPerCall;
    state.text =
        icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())});
    state.matcher->reset(state.text);
    UErrorCode status = U_ZERO_ERROR;
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
    while (state.matcher->find(status)) {
      const std::int32_t begin = state.matcher->start(status);
      const std::int32_t end = state.matcher->end(status);
      if (begin == end && end == last) continue;  // Oniguruma takes no empty match there
      last = end;
      const std::size_t begin_byte = byte_of(begin);
      append_stretch(all, done, begin_byte, byte_of(end));
    }
    if (U_FAILURE(status)) {
      throw Error("tokenizer.text",
                  std::string("takes too many steps of the tokenizer's regular expression: ICU "
                              "reports ") +
                      u_errorName(status));
    }
  }
  if (done != text.size()) all.push_back({done, text.size(), false});
  return all;
}

std::vector<Stretch> Pattern::find(std::string_view text) const { return Finder(*this).find(text); }

}  // namespace sextant::text
