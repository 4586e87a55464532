// More pairs from pairs of one language.
#include "sextant/training/tasks/augment_pairs.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/text/strings.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"
#include "sextant/core/random.h"
#include "sextant/text/segment.h"
#include "text/tokenizer_parts.h"
#include "training/tasks/task_fields.h"

namespace sextant {
namespace {

constexpr double kReach = 3;               // of a word in a disturbed order
constexpr std::size_t kCommonWords = 250;  // are never replaced
constexpr int kReplacedVersions = 2;
constexpr double kReplaced = 0.5, kReplacedInCopies = 0.25;  // of the words that both sides share
constexpr double kMadeUp = 0.7;  // of the names; of other words the rest

using Words = std::vector<std::string>;

Words disturbed(const Words& words, NumpyRandom& random) {
  std::vector<std::pair<double, std::size_t>> places;
  for (std::size_t i = 0; i < words.size(); ++i) {
    places.emplace_back(static_cast<double>(i) + kReach * random.uniform(), i);
  }
  std::ranges::sort(places);
  Words result;
  for (const auto& [place, i] : places) result.push_back(words[i]);
  return result;
}

bool is_name(const std::string& word) { return word[0] >= 'A' && word[0] <= 'Z'; }

// Three letters or more, and nothing else.
bool is_word(const std::string& text) {
  return text::characters(text).size() >= 3 && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
         });
}

// Other words for those that both sides of a pair share.
class Replacements {
 public:
  explicit Replacements(const std::vector<std::pair<Words, Words>>& pairs) {
    std::map<std::string, std::int64_t> counts;
    for (const auto& [source, target] : pairs) {
      for (const Words* side : {&source, &target}) {
        for (const std::string& word : *side) ++counts[word];
      }
    }
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& [word, count] : counts) order.emplace_back(-count, word);
    std::ranges::sort(order);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::string& word = order[i].second;
      if (i < kCommonWords) common_.insert(word);
      if (!is_word(word)) continue;
      if (!is_name(word)) {
        words_.push_back(word);
      } else if (!counts.contains(lower_case(word))) {
        names_.push_back(word);  // not only the first word of a sentence
      }
    }
  }

  std::pair<Words, Words> replaced(std::pair<Words, Words> pair, double part,
                                   NumpyRandom& random) const {
    const std::set<std::string> known(pair.second.begin(), pair.second.end());
    std::map<std::string, std::string> others;
    for (const std::string& word : std::set<std::string>(pair.first.begin(), pair.first.end())) {
      if (!known.contains(word) || common_.contains(word) || !is_word(word)) continue;
      if (random.uniform() < part) others[word] = other(is_name(word), random);
    }
    for (Words* side : {&pair.first, &pair.second}) {
      for (std::string& word : *side) {
        if (const auto found = others.find(word); found != others.end()) word = found->second;
      }
    }
    return pair;
  }

 private:
  static const std::string& any(const Words& of, NumpyRandom& random) {
    return of[static_cast<std::size_t>(random.uniform() * static_cast<double>(of.size()))];
  }

  // A word of the pairs, or the beginning of one and the end of another.
  std::string other(bool name, NumpyRandom& random) const {
    const Words& of = name && !names_.empty() ? names_ : words_;
    if (of.empty()) return "Nobody";
    std::string first = any(of, random);
    if ((random.uniform() < kMadeUp) != name) return first;
    const std::string second = any(of, random);
    const auto a = text::characters(first), b = text::characters(second);
    const auto some = [&random](std::size_t most) {
      return std::min(most, 2 + static_cast<std::size_t>(3 * random.uniform()));
    };
    std::string made;
    for (std::size_t i = 0, end = some(a.size()); i < end; ++i) made += a[i];
    for (std::size_t i = b.size() - some(b.size()); i < b.size(); ++i) made += b[i];
    return made;
  }

  std::set<std::string> common_;
  Words words_, names_;
};

}  // namespace

SentencePairs augmented(const SentencePairs& pairs, const PairAugmentation& how,
                        std::uint32_t seed) {
  NumpyRandom random(seed);
  std::vector<std::pair<Words, Words>> split;
  for (std::size_t i = 0; i < pairs.source.size(); ++i) {
    split.emplace_back(split_spaces(pairs.source[i]), split_spaces(pairs.target[i]));
  }
  const Replacements replacements(split);
  SentencePairs all = pairs;
  const auto add = [&](std::pair<Words, Words> pair, double part, bool disturb) {
    if (how.replace) pair = replacements.replaced(std::move(pair), part, random);
    if (disturb) pair.first = disturbed(pair.first, random);
    all.source.push_back(joined(pair.first, " "));
    all.target.push_back(joined(pair.second, " "));
  };
  for (std::size_t i = 0; i < split.size(); ++i) {
    const auto& pair = split[i];
    for (int version = 0; how.replace && version < kReplacedVersions; ++version) {
      add(pair, kReplaced, false);
    }
    if (how.swap) add({pair.second, pair.first}, kReplaced, false);
    if (how.shuffle) add({pair.second, pair.second}, kReplacedInCopies, true);
    if (how.join && i + 1 < split.size()) {
      auto both = pair;
      const auto& next = split[i + 1];
      both.first.insert(both.first.end(), next.first.begin(), next.first.end());
      both.second.insert(both.second.end(), next.second.begin(), next.second.end());
      add(std::move(both), kReplaced, false);
    }
  }
  return all;
}

PairAugmentation parse_augmentation(std::string_view text, std::string_view where) {
  PairAugmentation how;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    bool found = false;
    each_field<PairAugmentation>([&](const auto& one) {
      if (one.name == text.substr(begin, end - begin)) found = how.*one.member = true;
    });
    if (!found) {
      throw Error(where, "must be of swap, shuffle, replace, join, separated by commas, got " +
                             printable_quote(text));
    }
    begin = end + 1;
  }
  return how;
}

}  // namespace sextant
