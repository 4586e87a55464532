// Levenshtein's distance with one row of memory and an early way out, so that a suggestion out of a
// million words costs no more than reading them.
#include "text/edit_distance.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace sextant::text {

std::int64_t edit_distance(std::string_view a, std::string_view b, std::int64_t limit) {
  const auto difference = static_cast<std::int64_t>(a.size()) - static_cast<std::int64_t>(b.size());
  if (std::abs(difference) > limit) return limit + 1;
  std::vector<std::int64_t> row(b.size() + 1);  // distances from a's beginning to those of b
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t diagonal = std::exchange(row[0], static_cast<std::int64_t>(i) + 1);
    std::int64_t smallest = row[0];
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::int64_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
      smallest = std::min(smallest, row[j + 1]);
    }
    if (smallest > limit) return limit + 1;
  }
  return row.back();
}

std::optional<std::string> nearest_spelling(std::string_view word,
                                            std::span<const std::string> known) {
  constexpr std::size_t kLongest = 200;  // bytes; no spelling mistake beyond
  if (word.size() > kLongest) return std::nullopt;
  std::int64_t limit = std::max<std::int64_t>(1, static_cast<std::int64_t>(word.size() - 1) / 3);
  std::optional<std::string> nearest;
  for (const std::string& candidate : known) {
    const std::int64_t distance = edit_distance(word, candidate, limit);
    if (distance > limit) continue;
    nearest = candidate;
    if (distance == 0) break;
    limit = distance - 1;  // after this only a better one counts
  }
  return nearest;
}

}  // namespace sextant::text
