// Ranges of options as text, and their checks.
#include "sextant/core/options.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/options/option_text.h"
#include "core/text/strings.h"
#include "sextant/core/error.h"
#include "sextant/core/names.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Large powers of two, and those minus one, as powers.
std::string brief(std::int64_t value) {
  if (value < 0 && value != -kNoLimit) {
    const std::string positive = brief(-value);
    return positive.find(' ') == positive.npos ? "-" + positive : std::to_string(value);
  }
  const auto bits = static_cast<std::uint64_t>(value);
  if (value < (std::int64_t{1} << 16)) return std::to_string(value);
  if (std::has_single_bit(bits)) return "2^" + std::to_string(std::bit_width(bits) - 1);
  if (std::has_single_bit(bits + 1)) return "2^" + std::to_string(std::bit_width(bits)) + " - 1";
  return std::to_string(value);
}

std::string brief(double value) {
  const bool whole = std::abs(value) < 0x1p62 && value == std::floor(value);
  return whole ? brief(static_cast<std::int64_t>(value)) : shortest(value);
}

std::string step_of(const IntegerRange& range) {
  if (range.multiple_of == 1) return "";
  if (range.multiple_of == 2) return "even";
  return "a multiple of " + std::to_string(range.multiple_of);
}

std::string brief(const IntegerRange& range) {
  const std::string step = step_of(range);
  const std::string bounds = range.max == kNoLimit ? ">= " + brief(range.min)
                                                   : brief(range.min) + " .. " + brief(range.max);
  return step.empty() ? bounds : step + ", " + bounds;
}

std::string brief(const NumberRange& range) {
  if (range.min == -kInfinity && range.max == kInfinity) return "finite";
  if (range.max == kInfinity) return (range.exclusive_min ? "> " : ">= ") + brief(range.min);
  if (!range.exclusive_min && !range.exclusive_max)
    return brief(range.min) + " .. " + brief(range.max);
  return (range.exclusive_min ? "> " : ">= ") + brief(range.min) + ", " +
         (range.exclusive_max ? "< " : "<= ") + brief(range.max);
}

// Returns the requirement for an error.
std::string demand(const IntegerRange& range) {
  const std::string step = step_of(range);
  return "must be " + (step.empty() ? "" : step + " and ") +
         (range.max == kNoLimit ? "at least " + brief(range.min)
                                : brief(range.min) + " .. " + brief(range.max));
}

std::string demand(const NumberRange& range) {
  if (range.min == -kInfinity && range.max == kInfinity) return "must be finite";
  if (range.max == kInfinity) {
    return "must be finite and " + std::string(range.exclusive_min ? "above " : "at least ") +
           brief(range.min);
  }
  if (!range.exclusive_min && !range.exclusive_max)
    return "must be " + brief(range.min) + " .. " + brief(range.max);
  return "must be " + std::string(range.exclusive_min ? "above " : "at least ") + brief(range.min) +
         " and " + (range.exclusive_max ? "below " : "at most ") + brief(range.max);
}

struct TextCheck {
  std::string_view where, text;

  void operator()(const FlagRange&) const { read_option<bool>(text, where); }
  void operator()(const ChoiceRange& range) const { find_name(range.names, text, where); }
  void operator()(const IntegerRange& range) const {
    check_range(range, where, read_option<std::int64_t>(text, where));
  }
  void operator()(const NumberRange& range) const {
    check_range(range, where, read_option<double>(text, where));
  }
  void operator()(const TextRange&) const {}
  void operator()(const ListRange& range) const {
    std::visit(
        [&](const auto& each) {
          using Value = std::remove_cvref_t<decltype(each.min)>;
          for (const Value value : read_option<std::vector<Value>>(text, where)) {
            check_range(each, where, value);
          }
        },
        range.each);
  }
};

struct Brief {
  std::string operator()(const FlagRange&) const { return "yes | no"; }
  std::string operator()(const ChoiceRange& range) const { return joined(range.names, " | "); }
  std::string operator()(const IntegerRange& range) const { return brief(range); }
  std::string operator()(const NumberRange& range) const { return brief(range); }
  std::string operator()(const TextRange& range) const { return std::string(range.what); }
  std::string operator()(const ListRange& range) const {
    if (const auto* whole = std::get_if<IntegerRange>(&range.each)) {
      return (whole->multiple_of == 1 ? "whole" : step_of(*whole)) + " numbers " +
             brief(IntegerRange{whole->min, whole->max});
    }
    return "numbers " + brief(std::get<NumberRange>(range.each));
  }
};

}  // namespace

std::string to_string(const OptionRange& range) { return std::visit(Brief{}, range); }

void check_range(const IntegerRange& range, std::string_view where, std::int64_t value) {
  if (value >= range.min && value <= range.max && value % range.multiple_of == 0) return;
  throw Error(where, demand(range) + ", got " + std::to_string(value));
}

void check_range(const NumberRange& range, std::string_view where, double value) {
  const bool high = range.exclusive_min ? value > range.min : value >= range.min;
  const bool low = range.exclusive_max ? value < range.max : value <= range.max;
  if (high && low && std::isfinite(value)) return;
  throw Error(where, demand(range) + ", got " + shortest(value));
}

void check_range(const OptionRange& range, std::string_view where, std::string_view text) {
  std::visit(TextCheck{where, text}, range);
}

std::string Option::allowed() const {
  std::string text = to_string(range);
  if (!unset.empty()) text = std::string(unset) + " | " + text;
  return conditions.empty() ? text : text + "; " + std::string(conditions);
}

std::string Option::explained() const {
  std::string text(meaning);
  const auto* choice = std::get_if<ChoiceRange>(&range);
  if (choice == nullptr) return text;
  for (std::size_t i = 0; i < choice->meanings.size(); ++i) {
    text += std::string(i == 0 ? ". " : "; ") + std::string(choice->names[i]) + ": " +
            std::string(choice->meanings[i]);
  }
  return text;
}

template <>
bool read_option(std::string_view text, std::string_view where) {
  if (text == "yes" || text == "no") return text == "yes";
  throw Error(where, "must be yes or no, got " + printable_quote(text));
}
template <>
std::int64_t read_option(std::string_view text, std::string_view where) {
  return parse_int64(text, where);
}
template <>
double read_option(std::string_view text, std::string_view where) {
  return parse_double(text, where);
}

namespace {

template <class T>
std::vector<T> read_list(std::string_view text, std::string_view where) {
  std::vector<T> values;
  while (true) {
    const auto comma = text.find(',');
    values.push_back(read_option<T>(text.substr(0, comma), where));
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

template <>
std::vector<std::int64_t> read_option(std::string_view text, std::string_view where) {
  return read_list<std::int64_t>(text, where);
}
template <>
std::vector<double> read_option(std::string_view text, std::string_view where) {
  return read_list<double>(text, where);
}

}  // namespace sextant
