// Converts numbers to text and back, independent of the locale, with the shortest digits that read
// back as the same number, or with a given number of digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// Returns the fewest digits that parse to the same number: "0.1" for 0.1. It uses an exponent below
// 1e-4 ("1e-05") and from "1e+16" on, and writes "nan", "inf" and "-inf".
std::string shortest(double value);
std::string shortest(float value);

// Returns at most `digits` significant digits without trailing zeros: significant(cos(1), 17) is
// "0.54030230586813977". It uses an exponent below 1e-4 and if `digits` do not reach the point.
// Throws Error unless digits is in 1 .. 1000.
std::string significant(double value, int digits);

// Returns exactly `decimals` digits after the point, for tables and labels; a value that rounds to
// zero has no minus sign. Throws Error unless decimals is in 0 .. 1000.
std::string fixed(double value, int decimals);

// Parse the whole of `text` as a decimal number without spaces. Throws an Error with `where` if it
// is no number or out of range. parse_double also reads "nan", "inf" and "-inf", which shortest()
// writes, and refuses numbers that would become 0 or infinity.
double parse_double(std::string_view text, std::string_view where);
std::int64_t parse_int64(std::string_view text, std::string_view where);

// Parses "0,5,1000000" as {0, 5, 1000000}. Ranges "3..7" and "0..100..10" (begin..last..step, both
// ends included; 7..3..-1 counts down) and spaces around numbers are allowed. Throws Error for more
// than `limit` numbers.
std::vector<std::int64_t> parse_int64_list(std::string_view text, std::string_view where,
                                           std::int64_t limit = 1 << 24);

}  // namespace sextant
