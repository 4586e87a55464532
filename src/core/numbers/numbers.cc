// Text of numbers: one layout for all, digits from to_chars where the library has it for floating
// point, else from streams in the classic locale.
#include "sextant/core/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <locale>
#include <sstream>
#include <tuple>
#include <utility>

#ifdef __EMSCRIPTEN__
#include <emscripten.h>
#endif

#include "core/text/strings.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// The macro lets a test build take the second way with a library that has the first.
#if defined(__cpp_lib_to_chars) && !defined(SEXTANT_NUMBERS_BY_STREAMS)

template <class T, class... Precision>
std::string format(T value, std::chars_format form, Precision... precision) {
  char buffer[1500];  // at most 309 digits before the point and kMaxDigits after it
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value, form, precision...);
  return {buffer, result.ptr};
}

template <class T>
std::string scientific_shortest(T value) {
  return format(value, std::chars_format::scientific);
}
std::string scientific(double value, int behind) {
  return format(value, std::chars_format::scientific, behind);
}
std::string plain(double value, int behind) {
  return format(value, std::chars_format::fixed, behind);
}

// `text` has passed is_decimal. False when it is out of range.
bool convert(std::string_view text, double& value) {
  if (text.front() == '+') text.remove_prefix(1);
  return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{};
}

#else

std::string stream_text(double value, int behind, std::ios_base::fmtflags form) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.setf(form, std::ios_base::floatfield);
  out.precision(behind);
  out << value;
  return out.str();
}

std::string scientific(double value, int behind) {
  return stream_text(value, behind, std::ios_base::scientific);
}
std::string plain(double value, int behind) {
  return stream_text(value, behind, std::ios_base::fixed);
}

// The number, and whether it is in range. Streams answer an overflow with failbit and the largest
// number or infinity; a denormal may set failbit too, but its value is right.
template <class T>
std::pair<T, bool> stream_value(std::string_view text) {
  std::istringstream in{std::string(text)};
  in.imbue(std::locale::classic());
  T value = 0;
  in >> value;
  return {value, !in.fail() || std::abs(value) < std::numeric_limits<T>::max()};
}

#ifdef __EMSCRIPTEN__

// JavaScript has the shortest digits; each try of a stream takes microseconds.
// clang-format off
EM_JS(void, sextant_shortest, (double value, char* text, int size), {
  stringToUTF8(value.toExponential(), text, size);
})
// clang-format on

std::string scientific_shortest(double value) {
  char text[32];
  sextant_shortest(value, text, sizeof text);
  return text;
}

#endif

template <class T>
std::string scientific_shortest(T value) {
  constexpr int kEnough = std::numeric_limits<T>::max_digits10 - 1;
  for (int behind = 0; behind < kEnough; ++behind) {
    const std::string text = scientific(static_cast<double>(value), behind);
    if (stream_value<T>(text) == std::pair(value, true)) return text;
  }
  return scientific(static_cast<double>(value), kEnough);
}

bool convert(std::string_view text, double& value) {
  bool in_range = false;
  std::tie(value, in_range) = stream_value<double>(text);
  const std::string_view mantissa = text.substr(0, text.find_first_of("eE"));
  const bool is_zero = mantissa.find_first_of("123456789") == std::string_view::npos;
  return in_range && (value != 0 || is_zero);
}

#endif

std::string not_finite(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

// "-1.2300e+03" as people write it: no zeros at the end, and a plain number when its exponent is in
// [-4, `plain_below`).
std::string lay_out(std::string_view scientific_text, int plain_below) {
  const bool negative = scientific_text.front() == '-';
  if (negative) scientific_text.remove_prefix(1);
  const std::size_t mark = scientific_text.find('e');
  std::string digits(1, scientific_text[0]);
  if (mark > 2) digits += scientific_text.substr(2, mark - 2);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.empty()) digits = "0";
  const int exponent = std::atoi(std::string(scientific_text.substr(mark + 1)).c_str());

  const auto count = static_cast<int>(digits.size());
  std::string text = negative ? "-" : "";
  if (exponent < -4 || exponent >= plain_below) {
    text += digits[0];
    if (count > 1) text += "." + digits.substr(1);
    text += exponent < 0 ? "e-" : "e+";
    const std::string size = std::to_string(std::abs(exponent));
    return text + (size.size() < 2 ? "0" : "") + size;
  }
  if (exponent < 0) {
    return text + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  if (count <= exponent + 1) {
    return text + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0');
  }
  const auto point = static_cast<std::size_t>(exponent + 1);
  return text + digits.substr(0, point) + "." + digits.substr(point);
}

constexpr int kPlainBelow = 16;  // 1e16 and more are written with an exponent
constexpr int kMaxDigits = 1000;

void check_digits(const char* where, int digits, int min) {
  if (digits < min || digits > kMaxDigits) {
    throw Error(where, "must be in " + std::to_string(min) + " .. " + std::to_string(kMaxDigits) +
                           ", got " + std::to_string(digits));
  }
}

// [+-] digits [. digits] [e [+-] digits], with a digit before or after the point.
bool is_decimal(std::string_view text) noexcept {
  std::size_t at = 0;
  const auto skip_sign = [&] {
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  };
  const auto skip_digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - begin;
  };
  skip_sign();
  std::size_t digits = skip_digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    digits += skip_digits();
  }
  if (digits == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    skip_sign();
    if (skip_digits() == 0) return false;
  }
  return at == text.size();
}

// Appends begin, begin + step, ... up to and including `last`.
void append_range(std::vector<std::int64_t>& numbers, std::int64_t begin, std::int64_t last,
                  std::int64_t step, std::string_view item, std::string_view where,
                  std::int64_t limit) {
  if (step == 0) throw Error(where, "must have a step that is not 0, got " + printable_quote(item));
  if (begin != last && (begin < last) != (step > 0)) {
    throw Error(where,
                "must count towards the end of the range (a range that counts down needs a "
                "negative step: 7..3..-1), got " +
                    printable_quote(item));
  }
  // Unsigned, because the distance between two int64 may not fit one.
  const auto first = static_cast<std::uint64_t>(begin);
  const auto end = static_cast<std::uint64_t>(last);
  const auto stride = static_cast<std::uint64_t>(step);
  const std::uint64_t further = step > 0 ? (end - first) / stride : (first - end) / (0 - stride);
  const auto room = static_cast<std::uint64_t>(limit) - numbers.size();
  if (further >= room) {
    throw Error(where, "must be at most " + std::to_string(limit) + " numbers, got more at " +
                           printable_quote(item));
  }
  for (std::uint64_t i = 0; i <= further; ++i) {
    numbers.push_back(static_cast<std::int64_t>(first + i * stride));
  }
}

}  // namespace

std::string shortest(double value) {
  return std::isfinite(value) ? lay_out(scientific_shortest(value), kPlainBelow)
                              : not_finite(value);
}

std::string shortest(float value) {
  return std::isfinite(value) ? lay_out(scientific_shortest(value), kPlainBelow)
                              : not_finite(value);
}

std::string significant(double value, int digits) {
  check_digits("significant.digits", digits, 1);
  if (!std::isfinite(value)) return not_finite(value);
  return lay_out(scientific(value, digits - 1), digits);
}

std::string fixed(double value, int decimals) {
  check_digits("fixed.decimals", decimals, 0);
  if (!std::isfinite(value)) return not_finite(value);
  const std::string text = plain(value, decimals);
  const bool is_zero = text.find_first_of("123456789") == std::string::npos;
  return text.front() == '-' && is_zero ? text.substr(1) : text;  // no "-0.00" in a table
}

double parse_double(std::string_view text, std::string_view where) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (!is_decimal(text)) throw Error(where, "must be a number, got " + printable_quote(text));
  double value = 0;
  if (!convert(text, value)) {
    throw Error(where, "must be a number in the range of float64, got " + printable_quote(text));
  }
  return value;
}

std::int64_t parse_int64(std::string_view text, std::string_view where) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && is_digit(digits[1])) digits.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    throw Error(where, "must be an integer, got " + printable_quote(text));
  }
  if (problem != std::errc{}) {
    throw Error(where, "must be an integer from -2^63 to 2^63 - 1, got " + printable_quote(text));
  }
  return value;
}

std::vector<std::int64_t> parse_int64_list(std::string_view text, std::string_view where,
                                           std::int64_t limit) {
  if (limit < 0)
    throw Error("parse_int64_list.limit", "must not be negative, got " + std::to_string(limit));
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view item = trimmed(text.substr(at, comma - at));
    at = comma + 1;
    if (item.empty()) {
      throw Error(where, "must be numbers and ranges such as 0,5,10..20 or 0..100..10, got " +
                             printable_quote(text));
    }
    const std::size_t first = item.find("..");
    const std::int64_t begin = parse_int64(trimmed(item.substr(0, first)), where);
    std::int64_t last = begin;
    std::int64_t step = 1;
    if (first != std::string_view::npos) {
      const std::string_view rest = item.substr(first + 2);
      const std::size_t second = rest.find("..");
      last = parse_int64(trimmed(rest.substr(0, second)), where);
      if (second != std::string_view::npos)
        step = parse_int64(trimmed(rest.substr(second + 2)), where);
    }
    append_range(numbers, begin, last, step, item, where, limit);
  }
  return numbers;
}

}  // namespace sextant
