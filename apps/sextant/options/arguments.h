// Parses the command line's small languages: lists of positions, names of formats. They do not
// depend on options or terminals, so that they can be fuzzed.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sextant::app {

// Whole positions, or real-valued ones as soon as one of them has a fraction or an exponent.
using Positions = std::variant<std::vector<std::int64_t>, std::vector<double>>;

// "0,5,1000000", "0..100..10" (both ends included), "10.5,20". Real values cannot be ranges. Throws
// Error for anything else and for more than 2^24 positions.
Positions parse_positions(std::string_view text, std::string_view where);

// Parses a whole number in [least, most]. Throws an Error that distinguishes a text that is no
// number from a number out of range.
std::int64_t parse_integer(std::string_view text, std::string_view where, std::int64_t least,
                           std::int64_t most);

// "2,10" -> {2, 10}. Throws Error unless there are exactly two whole numbers, `least` or more.
std::pair<std::int64_t, std::int64_t> parse_pair(
    std::string_view text, std::string_view where,
    std::int64_t least = -std::numeric_limits<std::int64_t>::max());

// Parses a finite number in [least, infinity), without `least` itself if `above` is true. Throws
// Error.
double parse_finite(std::string_view text, std::string_view where,
                    double least = -std::numeric_limits<double>::infinity(), bool above = false);

// "black, brown" -> {"black", "brown"}. Throws Error unless there are exactly two.
std::pair<std::string, std::string> parse_words(std::string_view text, std::string_view where);

// How a result is written.
enum class Format { text, csv, json, npy, svg, png, pdf, html };
inline constexpr Format kTextOrJson[] = {Format::text, Format::json};
std::string_view name_of(Format format) noexcept;
bool is_picture(Format format) noexcept;  // svg, png, pdf, html
// By name, or by the ending of a path. Throws Error that lists `allowed`.
Format parse_format(std::string_view name, std::span<const Format> allowed, std::string_view where);
Format format_of_path(std::string_view path, std::span<const Format> allowed,
                      std::string_view where);

// "1,003,854".
std::string grouped(std::int64_t count);

// `text` in lines of at most `columns` bytes, broken at spaces, a longer word after a comma; line
// breaks of the text stay.
std::string wrap(std::string_view text, std::size_t columns);

}  // namespace sextant::app
