// Describes options as data, which the command line, documents, other languages and pages show and
// set by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sextant {

// The allowed values of an option.
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
  std::string_view what;  // the kind of text: "a .npy file [rows, width]"
};
struct ListRange {  // numbers separated by commas: "1,1.5,2"
  std::variant<IntegerRange, NumberRange> each;
};
using OptionRange =
    std::variant<FlagRange, ChoiceRange, IntegerRange, NumberRange, TextRange, ListRange>;

// Returns "yes | no", "even, 2 .. 2^20", "> 0", ">= 0", "0 .. 1", "numbers > 0".
std::string to_string(const OptionRange& range);

// Throw Error(where, ...) unless the value is in the range.
void check_range(const IntegerRange& range, std::string_view where, std::int64_t value);
void check_range(const NumberRange& range, std::string_view where, double value);
// Checks a text, as on the command line.
void check_range(const OptionRange& range, std::string_view where, std::string_view text);

struct Option {
  std::string_view name;     // the name in C++, on the command line and in Python
  std::string default_text;  // as on the command line; empty if a value must be given
  OptionRange range;
  // The word for "not given", allowed in addition to the range: "auto", "none".
  std::string_view unset;
  std::string_view meaning;     // one line of meaning
  std::string_view conditions;  // conditions that involve other options; may be empty

  std::string allowed() const;  // returns the unset word, the range and the conditions
  // Returns the meaning, and that of each name of a choice: "which channels form a pair.
  // interleaved: ...".
  std::string explained() const;
};

}  // namespace sextant
