// Options as data: what the command line, documents, other languages and pages show and set by
// name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sextant {

// The values that an option may have.
struct FlagRange {};  // yes, no
struct ChoiceRange {
  std::vector<std::string_view> names;
  std::vector<std::string_view> meanings{};  // one per name
};
struct IntegerRange {
  std::int64_t min, max;
  std::int64_t multiple_of = 1;
};
struct NumberRange {  // finite numbers
  double min, max;
  bool exclusive_min = false;  // `min` itself is not allowed
  bool exclusive_max = false;  // nor `max`
};
struct TextRange {
  std::string_view what;  // "a .npy file [rows, width]"
};
struct ListRange {  // separated by commas: "1,1.5,2"
  std::variant<IntegerRange, NumberRange> each;
};
using OptionRange =
    std::variant<FlagRange, ChoiceRange, IntegerRange, NumberRange, TextRange, ListRange>;

// "yes | no", "even, 2 .. 2^20", "> 0", ">= 0", "0 .. 1", "numbers > 0".
std::string to_string(const OptionRange& range);

// Throw Error(where, ...) unless the value is in the range.
void check_range(const IntegerRange& range, std::string_view where, std::int64_t value);
void check_range(const NumberRange& range, std::string_view where, double value);
// The same for a text, as on the command line.
void check_range(const OptionRange& range, std::string_view where, std::string_view text);

struct Option {
  std::string_view name;     // as in C++, on the command line and in Python
  std::string default_text;  // as on the command line; empty when it must be given
  OptionRange range;
  std::string_view unset;    // the word for "not given", allowed beside the range: "auto", "none"
  std::string_view meaning;  // one line
  std::string_view conditions;  // what must hold besides, with other options; may be empty

  std::string allowed() const;  // the unset word, the range and what must hold besides
  // The meaning, and that of each name of a choice: "which channels form a pair. interleaved: ...".
  std::string explained() const;
};

}  // namespace sextant
