// Regular expressions by ICU, which is fastest on UTF-16.
#include "text/pretrained/patterns/regex.h"

#include <unicode/regex.h>
#include <unicode/unistr.h>

#include <string>
#include <utility>

#include "sextant/core/error.h"
#include "text/pretrained/patterns/pattern_syntax.h"

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

class IcuSearch : public Regex::Search {
 public:
  explicit IcuSearch(const icu::RegexPattern& pattern) {
    UErrorCode status = U_ZERO_ERROR;
    matcher_.reset(pattern.matcher(status));
    if (U_SUCCESS(status)) matcher_->setStackLimit(kStack, status);
    if (U_SUCCESS(status)) matcher_->setMatchCallback(&Budget::spend, &budget_, status);
    if (U_FAILURE(status)) {
      throw Error("tokenizer", std::string("ICU reports ") + u_errorName(status));
    }
  }

  std::vector<Regex::Match> matches(std::string_view text) override {
    budget_.left += static_cast<std::int64_t>(text.size()) / kBytesPerCall;
    text_ = icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())});
    matcher_->reset(text_);
    UErrorCode status = U_ZERO_ERROR;
    std::vector<Regex::Match> all;
    while (matcher_->find(status)) {
      const std::int32_t begin = matcher_->start(status);
      all.push_back({begin, matcher_->end(status)});
    }
    if (U_FAILURE(status)) {
      throw Error("tokenizer.text",
                  std::string("takes too many steps of the tokenizer's regular expression: ICU "
                              "reports ") +
                      u_errorName(status));
    }
    return all;
  }

 private:
  icu::UnicodeString text_;
  Budget budget_;
  std::unique_ptr<icu::RegexMatcher> matcher_;
};

class IcuRegex : public Regex {
 public:
  explicit IcuRegex(std::unique_ptr<icu::RegexPattern> pattern) : pattern_(std::move(pattern)) {}
  std::unique_ptr<Search> search() const override { return std::make_unique<IcuSearch>(*pattern_); }

 private:
  std::unique_ptr<icu::RegexPattern> pattern_;
};

}  // namespace

std::unique_ptr<const Regex> Regex::compile(std::string_view pattern, const Field& field) {
  UErrorCode status = U_ZERO_ERROR;
  UParseError place;
  std::unique_ptr<icu::RegexPattern> made(icu::RegexPattern::compile(
      icu::UnicodeString::fromUTF8(icu_pattern(pattern, field)), place, status));
  if (U_FAILURE(status)) {
    throw Error(field.file(), "must have a regular expression that ICU knows as " + field.place() +
                                  ", got " + u_errorName(status));
  }
  return std::make_unique<IcuRegex>(std::move(made));
}

}  // namespace sextant::text
