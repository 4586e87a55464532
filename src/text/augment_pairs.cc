// More pairs from pairs of one language.
#include <algorithm>
#include <sstream>
#include <utility>

#include "sextant/core/random.h"
#include "sextant/text/pairs.h"

namespace sextant {
namespace {

constexpr double kReach = 3;

std::string disturbed(const std::string& sentence, NumpyRandom& random) {
  std::vector<std::pair<double, std::string>> words;
  std::istringstream stream(sentence);
  for (std::string word; stream >> word;) {
    const double place = static_cast<double>(words.size()) + kReach * random.uniform();
    words.emplace_back(place, std::move(word));
  }
  std::ranges::stable_sort(words, {}, &std::pair<double, std::string>::first);
  std::string result;
  for (const auto& [place, word] : words) {
    if (!result.empty()) result += ' ';
    result += word;
  }
  return result;
}

}  // namespace

SentencePairs augmented(const SentencePairs& pairs, std::uint32_t seed) {
  NumpyRandom random(seed);
  SentencePairs all = pairs;
  for (std::size_t i = 0; i < pairs.source.size(); ++i) {
    all.source.push_back(pairs.target[i]);
    all.target.push_back(pairs.source[i]);
    all.source.push_back(disturbed(pairs.target[i], random));
    all.target.push_back(pairs.target[i]);
  }
  return all;
}

}  // namespace sextant
