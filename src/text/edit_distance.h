// How far apart two spellings are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sextant::text {

// Insertions, deletions and replacements of bytes that make `b` of `a` (Levenshtein 1966); any
// number above `limit` when there are more than that.
std::int64_t edit_distance(std::string_view a, std::string_view b, std::int64_t limit);

// The known word with the smallest distance, the first of equals; none when a third of the letters
// would have to change.
std::optional<std::string> nearest_spelling(std::string_view word,
                                            std::span<const std::string> known);

}  // namespace sextant::text
