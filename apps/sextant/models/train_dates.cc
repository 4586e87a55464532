// Dates to learn from and to be checked on, and the check.
#include "models/train_dates.h"

#include "sextant/models/model_folder.h"
#include "sextant/models/translate.h"
#include "sextant/training/tasks/dates.h"

namespace sextant::app {
namespace {

SentencePairs drawn(std::uint64_t seed, std::uint64_t stream, DateSet set, std::int64_t count) {
  return date_pairs(
      {.count = count, .set = set, .seed = static_cast<std::uint32_t>(3 * seed + stream)});
}

constexpr std::int64_t kTraining = 20000, kValidation = 500, kCheck = 1000;
constexpr std::size_t kShownMisses = 3;

}  // namespace

SentencePairs training_dates(std::uint64_t seed) {
  return drawn(seed, 0, DateSet::training, kTraining);
}

SentencePairs validation_dates(std::uint64_t seed) {
  return drawn(seed, 1, DateSet::held_out, kValidation);
}

ExactMatch check_dates(const std::string& folder, std::uint64_t seed, int threads) {
  const ModelFolder model_folder = open_model_folder(folder);
  Translator<float> model = load_translator(model_folder);
  const SentencePairs pairs = drawn(seed, 2, DateSet::held_out, kCheck);
  std::vector<std::vector<std::int64_t>> sources;
  for (const std::string& text : pairs.source) {
    sources.push_back(model_folder.tokenizer.encode(text));
  }
  const auto found =
      translate(model, sources, {.search = {.beams = 1}, .together = 100, .threads = threads});
  ExactMatch match;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string got = model_folder.tokenizer.decode(found[i].front().tokens);
    ++match.count;
    if (got == pairs.target[i]) {
      ++match.right;
    } else if (match.misses.size() < kShownMisses) {
      match.misses.push_back({pairs.source[i], pairs.target[i], got});
    }
  }
  return match;
}

}  // namespace sextant::app
