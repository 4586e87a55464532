// Splits ASCII texts into words and characters, by the same rules as for any text (UAX #29), for
// builds without ICU.
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
