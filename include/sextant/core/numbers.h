// Numbers as text: independent of the locale, with the shortest digits that read back as the same
// number, or a given number of digits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

// "0.1" for 0.1: the fewest digits that parse to the same number. With an exponent below 1e-4
// ("1e-05") and from "1e+16" on; "nan", "inf" and "-inf" for those.
std::string shortest(double value);
std::string shortest(float value);

// At most `digits` significant digits, trailing zeros dropped: significant(cos(1), 17) is
// "0.54030230586813977". With an exponent below 1e-4 and when `digits` are too few to reach the
// point. Throws Error unless digits is in 1 .. 1000.
std::string significant(double value, int digits);

// Exactly `decimals` digits after the point, for tables and labels; what rounds to zero has no
// minus sign. Throws Error unless decimals is in 0 .. 1000.
std::string fixed(double value, int decimals);

// The whole of `text` as a number; throws Error naming `where` when it is none or out of range.
// Decimal only, no spaces; parse_double also reads "nan", "inf" and "-inf", which shortest()
// writes, and refuses what would become 0 or infinity.
double parse_double(std::string_view text, std::string_view where);
std::int64_t parse_int64(std::string_view text, std::string_view where);

// "0,5,1000000" -> {0, 5, 1000000}; ranges "3..7" and "0..100..10" (begin..last..step, both ends
// included; 7..3..-1 counts down) and spaces around numbers are allowed. Throws Error when more
// than `limit` numbers would come out.
std::vector<std::int64_t> parse_int64_list(std::string_view text, std::string_view where,
                                           std::int64_t limit = 1 << 24);

}  // namespace sextant
