// Rewrites the differences: \w and \b (ICU counts joiners as letters), ^ and $ (ends of lines in
// Oniguruma), the dot (all but \n there), options without a group of their own. For JavaScript also
// what it lacks: atomic groups, \A, \z, classes of Unicode, needless backslashes.
#include "text/pretrained/patterns/pattern_syntax.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "core/text/utf8.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant::text {
namespace {

constexpr std::string_view kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
constexpr std::size_t kLongestPattern = 4096;

// What is written differently.
struct Dialect {
  std::string_view begin;     // \A
  std::string_view end;       // \z
  std::string_view last_end;  // \Z
  std::string_view space;     // \s and \S
  std::string_view no_space;
  std::string_view digit;  // \d and \D
  std::string_view no_digit;
  bool javascript;
};
constexpr Dialect kIcu = {R"(\A)", R"(\z)", R"(\Z)", R"(\s)", R"(\S)", R"(\d)", R"(\D)", false};
constexpr Dialect kJavaScript = {
    "(?<![^])",           "(?![^])",   R"((?=\n?(?![^])))", R"(\p{White_Space})",
    R"(\P{White_Space})", R"(\p{Nd})", R"(\P{Nd})",         true};

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
  Translation(std::string_view pattern, const Field& field, const Dialect& dialect)
      : rest_(pattern), field_(field), dialect_(dialect) {}

  std::string run() {
    while (!rest_.empty()) {
      const char c = take();
      if (set_) {
        in_set(c);
      } else if (!quantifier(c)) {
        item(c);
      }
    }
    close_options();
    return out_;
  }

 private:
  struct Group {
    std::size_t begin;  // in out_
    bool atomic = false;
    bool behind = false;  // inside (?<= or (?<!
    int options = 0;      // groups that (?i) has opened, which end with it
  };

  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }
  bool next_is(char c) const { return !rest_.empty() && rest_.front() == c; }
  [[noreturn]] void refuse(std::string_view what) const {
    throw Error(field_.file(), "must have no " + std::string(what) + " in the regular expression " +
                                   field_.place() + ", got " + printable_quote(field_.text()));
  }

  // Anything but a quantifier and what is in a set.
  void item(char c) {
    // The bytes of a character are one item.
    if (!continues_character(c)) item_ = out_.size();
    if (c == '\\') {
      escape();
    } else if (c == '[') {
      set_ = true;
      out_ += '[';
      if (next_is('^')) out_ += take();
      if (next_is(']')) refuse("[]");
    } else if (c == '^') {
      out_ +=
          "(?:" + std::string(dialect_.begin) + R"(|(?<=\n)(?!)" + std::string(dialect_.end) + "))";
    } else if (c == '$') {
      out_ += R"((?=\n|)" + std::string(dialect_.end) + ")";
    } else if (c == '.') {
      out_ += R"([^\n])";
    } else if (c == '(') {
      group();
    } else if (c == ')') {
      end_group();
    } else if (dialect_.javascript && (c == ']' || c == '{' || c == '}')) {
      out_ += std::string("\\") + c;
    } else {
      out_ += c;
    }
  }

  // Writes a quantifier with what follows it, the ? of a lazy one or the + of a possessive one.
  bool quantifier(char c) {
    if (c == '{') {
      const std::size_t close = rest_.find_first_not_of("0123456789,");
      if (close == 0 || close == rest_.npos || rest_[close] != '}') return false;
      const std::string_view counts = rest_.substr(0, close);
      if (counts == "," || std::ranges::count(counts, ',') > 1) return false;
      if (rest_.size() > close + 1 && rest_[close + 1] == '+') refuse("{n,m}+");
      out_ += counts.front() == ',' ? "{0" : "{";
      out_ += rest_.substr(0, close + 1);
      rest_.remove_prefix(close + 1);
    } else if (c == '*' || c == '+' || c == '?') {
      out_ += c;
    } else {
      return false;
    }
    if (next_is('?')) {
      out_ += take();
    } else if (next_is('+')) {
      take();
      if (dialect_.javascript) {
        make_atomic(item_);
      } else {
        out_ += '+';
      }
    }
    return true;
  }

  // What is written from `begin` on matches in one way only.
  void make_atomic(std::size_t begin) {
    if (!groups_.empty() && groups_.back().behind) refuse("(?> or possessive quantifier in (?<=");
    const std::string name = "atom" + std::to_string(++atoms_);
    out_.insert(begin, "(?:(?=(?<" + name + ">");
    out_ += R"())\k<)" + name + ">)";
  }

  void in_set(char c) {
    if (c == '\\') return escape();
    if (c == '[') refuse("[ in sets");
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
    } else if (c == 'p' || c == 'P' || c == 'x') {
      out_ += dialect_.javascript && c == 'x' && next_is('{') ? "\\u" : escaped;
      in_braces(c != 'x');
    } else if (std::string_view("AzZsSdD").find(c) != std::string_view::npos) {
      if (set_ && (c == 'A' || c == 'z' || c == 'Z')) refuse(escaped + " in sets");
      out_ += c == 'A'   ? dialect_.begin
              : c == 'z' ? dialect_.end
              : c == 'Z' ? dialect_.last_end
              : c == 's' ? dialect_.space
              : c == 'S' ? dialect_.no_space
              : c == 'd' ? dialect_.digit
                         : dialect_.no_digit;
    } else if (std::string_view("nrtfaevu").find(c) != std::string_view::npos) {
      // \v is a class in ICU, \a and \e are nothing in JavaScript.
      out_ += c == 'v' ? "\\x0b" : c == 'a' ? "\\x07" : c == 'e' ? "\\x1b" : escaped;
    } else if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) {
      refuse(escaped);
    } else if (dialect_.javascript &&
               std::string_view("^$\\.*+?()[]{}|/-").find(c) == std::string_view::npos) {
      out_ += c;
    } else {
      out_ += dialect_.javascript && c == '-' && !set_ ? "-" : escaped;
    }
  }
  // The {...} of \p and \x; one letter after \p needs none.
  void in_braces(bool property) {
    const std::size_t close = next_is('{') ? rest_.find('}') : rest_.npos;
    if (close != rest_.npos) {
      out_ += rest_.substr(0, close + 1);
      rest_.remove_prefix(close + 1);
    } else if (property && !rest_.empty()) {
      out_ += std::string("{") + take() + "}";
    }
  }

  // ( (?: (?= (?! (?> (?<= (?<! and options i, -i
  void group() {
    const bool behind = !groups_.empty() && groups_.back().behind;
    groups_.push_back({.begin = out_.size(), .behind = behind});
    out_ += '(';
    if (!next_is('?')) return;
    take();
    const std::size_t end = rest_.find_first_of(":=!>)");
    const std::string_view kind = rest_.substr(0, end == rest_.npos ? rest_.size() : end + 1);
    const std::initializer_list<std::string_view> known = {
        ":", "=", "!", ">", "<=", "<!", "i:", "-i:", "i)", "-i)"};
    if (std::ranges::find(known, kind) == known.end())
      refuse("(?" + std::string(kind.substr(0, 8)));
    rest_.remove_prefix(kind.size());
    if (kind.back() == ')') {  // up to the end of the group that it is in
      groups_.pop_back();
      (groups_.empty() ? options_ : groups_.back().options) += 1;
      out_ += "?" + std::string(kind.substr(0, kind.size() - 1)) + ":";
      return;
    }
    groups_.back().atomic = kind == ">" && dialect_.javascript;
    groups_.back().behind = behind || kind == "<=" || kind == "<!";
    out_ += groups_.back().atomic ? "?:" : "?" + std::string(kind);
  }
  void end_group() {
    close_options();
    out_ += ')';
    if (groups_.empty()) return;  // the library refuses it
    const Group group = groups_.back();
    groups_.pop_back();
    item_ = group.begin;
    if (group.atomic) make_atomic(group.begin);
  }
  void close_options() {
    int& open = groups_.empty() ? options_ : groups_.back().options;
    out_.append(static_cast<std::size_t>(open), ')');
    open = 0;
  }

  std::string_view rest_;
  const Field& field_;
  const Dialect& dialect_;
  std::string out_;
  std::size_t item_ = 0;  // where the last item begins in out_
  std::vector<Group> groups_;
  int options_ = 0;  // as Group::options, outside of groups
  int atoms_ = 0;
  bool set_ = false;
};

std::string translated(std::string_view pattern, const Field& field, const Dialect& dialect) {
  if (pattern.empty() || pattern.size() > kLongestPattern) {
    throw Error(field.file(), "must have a regular expression of 1 .. " +
                                  std::to_string(kLongestPattern) + " bytes as " + field.place() +
                                  ", got " + std::to_string(pattern.size()));
  }
  return Translation(pattern, field, dialect).run();
}

}  // namespace

std::string icu_pattern(std::string_view pattern, const Field& field) {
  return translated(pattern, field, kIcu);
}

std::string javascript_pattern(std::string_view pattern, const Field& field) {
  return translated(pattern, field, kJavaScript);
}

}  // namespace sextant::text
