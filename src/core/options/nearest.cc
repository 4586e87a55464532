// Names that a word begins, and Damerau's distance between words.
#include "core/options/nearest.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace sextant {

std::string nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string best;
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  constexpr std::size_t kFewLetters = 2;  // one letter begins too many names
  for (const std::string_view candidate : candidates) {
    if (letters < kFewLetters || !candidate.starts_with(word)) continue;
    if (best.empty() || candidate.size() < best.size()) best = candidate;
  }
  if (!best.empty()) return best;
  constexpr std::size_t kShort = 4;  // of such a word one letter may differ
  std::size_t fewest = (letters <= kShort ? 1 : std::max<std::size_t>(2, letters / 3)) + 1;
  for (const std::string_view candidate : candidates) {
    // Damerau's distance with three rows: before last, last, this one.
    std::vector<std::size_t> older;
    std::vector<std::size_t> last(candidate.size() + 1);
    for (std::size_t j = 0; j < last.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::vector<std::size_t> row(candidate.size() + 1, i);
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t change = last[j - 1] + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
        if (i > 1 && j > 1 && word[i - 1] == candidate[j - 2] && word[i - 2] == candidate[j - 1]) {
          row[j] = std::min(row[j], older[j - 2] + 1);
        }
      }
      older = std::move(last);
      last = std::move(row);
    }
    if (last.back() < std::min(fewest, word.size())) {
      fewest = last.back();
      best = candidate;
    }
  }
  return best;
}

std::string suggested(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongestName = 64;  // no name is nearly as long
  const std::string meant = word.size() > kLongestName ? "" : nearest(word, candidates);
  return meant.empty() ? "" : "; did you mean '" + meant + "'?";
}

}  // namespace sextant
