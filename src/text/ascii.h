// Words and characters of texts that are ASCII alone, by the same rules as those of any text
// (UAX #29): what builds without ICU have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::text {

bool is_ascii(std::string_view text);

// As split_words() and visible_length(); `text` must be ASCII.
std::vector<std::string> ascii_words(std::string_view text);
std::int64_t ascii_length(std::string_view text);

}  // namespace sextant::text
