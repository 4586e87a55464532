// Rewrites the differences: \w and \b (ICU counts joiners as letters), ^ and $ (ends of lines in
// Oniguruma), the dot (all but \n there).
#include "text/libraries/pretrained/pattern_syntax.h"

#include "sextant/core/error.h"
#include "text/quote.h"

namespace sextant::text {
namespace {

constexpr std::string_view kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
constexpr std::size_t kLongestPattern = 4096;

std::string boundary(bool inside) {
  const std::string word = "[" + std::string(kWord) + "]";
  const std::string before = "(?<=" + word + ")";
  const std::string no_before = "(?<!" + word + ")";
  const std::string after = "(?=" + word + ")";
  const std::string no_after = "(?!" + word + ")";
  return inside ? "(?:" + before + after + "|" + no_before + no_after + ")"
                : "(?:" + before + no_after + "|" + no_before + after + ")";
}

class Translation {
 public:
  Translation(std::string_view pattern, const Field& field) : rest_(pattern), field_(field) {}

  std::string run() {
    while (!rest_.empty()) {
      const char c = take();
      if (c == '\\') {
        escape();
      } else if (c == '[') {
        if (set_) refuse("[ in sets");
        set_ = true;
        out_ += '[';
        if (next_is('^')) out_ += take();
        if (next_is(']')) refuse("[]");
      } else if (set_) {
        in_set(c);
      } else if (c == '^') {
        out_ += R"((?:\A|(?<=\n)(?!\z)))";
      } else if (c == '$') {
        out_ += R"((?=\n|\z))";
      } else if (c == '.') {
        out_ += R"([^\n])";
      } else if (c == '}' && next_is('+')) {
        refuse("{n,m}+");
      } else if (c == '(' && next_is('?')) {
        group();
      } else {
        out_ += c;
      }
    }
    return out_;
  }

 private:
  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  bool next_is(char c) const { return !rest_.empty() && rest_.front() == c; }
  [[noreturn]] void refuse(std::string_view what) const {
    throw Error(field_.file(), "must have no " + std::string(what) + " in the regular expression " +
                                   field_.place() + ", got " + in_quotes(field_.text()));
  }

  void in_set(char c) {
    if (c == ']') set_ = false;
    if ((c == '-' && next_is('-')) || (c == '&' && next_is('&'))) refuse("operators in sets");
    out_ += c;
  }
  void escape() {
    if (rest_.empty()) refuse("\\ at the end");
    const char c = take();
    const std::string escaped = std::string("\\") + c;
    if (c == 'w') {
      out_ += set_ ? std::string(kWord) : "[" + std::string(kWord) + "]";
    } else if (c == 'W') {
      if (set_) refuse("\\W in sets");
      out_ += "[^" + std::string(kWord) + "]";
    } else if (c == 'b' || c == 'B') {
      if (set_) refuse("\\b in sets");
      out_ += boundary(c == 'B');
    } else if (std::string_view("dDsSpPAznrtfaevux").find(c) != std::string_view::npos) {
      out_ += c == 'v' ? "\\x0b" : escaped;  // \v is a class in ICU
      if (c != 'p' && c != 'P' && c != 'x') return;
      const std::size_t close = next_is('{') ? rest_.find('}') : rest_.npos;
      if (close == rest_.npos) return;
      out_ += rest_.substr(0, close + 1);
      rest_.remove_prefix(close + 1);
    } else if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) {
      refuse(escaped);
    } else {
      out_ += escaped;
    }
  }
  // (?: (?= (?! (?> (?<= (?<! and options i, -i
  void group() {
    out_ += "(?";
    take();
    const std::size_t end = rest_.find_first_of(":=!>)");
    const std::string_view kind = rest_.substr(0, end == rest_.npos ? rest_.size() : end + 1);
    for (const std::string_view known :
         {":", "=", "!", ">", "<=", "<!", "i:", "-i:", "i)", "-i)"}) {
      if (kind != known) continue;
      out_ += kind;
      rest_.remove_prefix(kind.size());
      return;
    }
    refuse("(?" + std::string(kind.substr(0, 8)));
  }

  std::string_view rest_;
  const Field& field_;
  std::string out_;
  bool set_ = false;
};

}  // namespace

std::string icu_pattern(std::string_view pattern, const Field& field) {
  if (pattern.empty() || pattern.size() > kLongestPattern) {
    throw Error(field.file(), "must have a regular expression of 1 .. " +
                                  std::to_string(kLongestPattern) + " bytes as " + field.place() +
                                  ", got " + std::to_string(pattern.size()));
  }
  return Translation(pattern, field).run();
}

}  // namespace sextant::text
