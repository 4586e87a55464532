// Draws letters at random, and computes the answers of a task.
#include "sextant/training/tasks/letters.h"

#include <algorithm>

#include "core/numbers/hash.h"
#include "core/options/enum_names.h"
#include "core/options/fields.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"

namespace sextant {
namespace {

constexpr std::int64_t kMostTries = 1000;  // draws for one pair of the wanted set

// FNV-1a, and the finalizer of MurmurHash3, which spreads its last bits.
bool is_held_out(std::string_view letters) {
  std::uint64_t hash = fnv1a(letters);
  hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCDu;
  return (hash ^ (hash >> 33)) % 10 == 0;
}

void check(const LetterPairs& options) {
  check_range(IntegerRange{1, 10'000'000}, "letters.count", options.count);
  check_range(IntegerRange{2, 26}, "letters.letters", options.letters);
  check_range(IntegerRange{1, 1000}, "letters.longest", options.longest);
  check_range(IntegerRange{1, options.longest}, "letters.shortest", options.shortest);
}

}  // namespace

std::string_view name_of(LetterTask task) noexcept {
  return enum_name(task, {"copy", "reverse", "sort"});
}

std::string expected_answer(LetterTask task, std::string letters) {
  if (task == LetterTask::reverse) std::reverse(letters.begin(), letters.end());
  if (task == LetterTask::sort) std::sort(letters.begin(), letters.end());
  return letters;
}

SentencePairs letter_pairs(const LetterPairs& options) {
  check(options);
  NumpyRandom random(options.seed);
  const auto draw = [&](std::int64_t count) {
    return static_cast<std::int64_t>(random.uniform() * static_cast<double>(count));
  };
  SentencePairs pairs{.source_name = "letters", .target_name = std::string(name_of(options.task))};
  for (std::int64_t i = 0, tries = 0; i < options.count; ++tries) {
    if (tries > kMostTries) {
      throw Error("letters.letters", "must be enough for texts of both sets, got " +
                                         std::to_string(options.letters) + " of lengths up to " +
                                         std::to_string(options.longest));
    }
    const std::int64_t length = options.shortest + draw(options.longest - options.shortest + 1);
    std::string letters;
    for (std::int64_t j = 0; j < length; ++j) {
      letters += static_cast<char>('a' + draw(options.letters));
    }
    if (is_held_out(letters) != options.held_out) continue;
    pairs.target.push_back(expected_answer(options.task, letters));
    pairs.source.push_back(std::move(letters));
    ++i;
    tries = 0;
  }
  return pairs;
}

}  // namespace sextant
