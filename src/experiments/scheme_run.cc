// A model of one scheme, from its task to its row.
#include "experiments/scheme_run.h"

#include <algorithm>
#include <utility>

#include "experiments/of_seed.h"
#include "sextant/training/adamw.h"

namespace sextant {
namespace {

// Returns the part of the held-out text that train() scores at the end: a fair sample, not minutes
// of work.
std::vector<std::int64_t> validation_text(const ExtrapolationOptions& options,
                                          const std::vector<std::int64_t>& held_out) {
  const auto limit = static_cast<std::size_t>(128 * options.data.length + 1);
  const auto count = static_cast<std::ptrdiff_t>(std::min(limit, held_out.size()));
  return {held_out.begin(), held_out.begin() + count};
}

TextModel copy_of(const TextModel& model) {
  TextModel copy = make_zeros(
      [&](UnsetWeights unset) { return TextModel(model.config, model.tokenizer, unset); });
  const Parameters<const float> from = model.parameters();
  const Parameters<float> to = copy.parameters();
  for (std::size_t i = 0; i < to.size(); ++i) *to[i].tensor = from.at(i).tensor->clone();
  return copy;
}

// Measured on a sample of the tokens at each length, and scaled to all of them.
double scoring_seconds(const LanguageModel<float>& model, const ExtrapolationOptions& options,
                       const ExtrapolationData& data, const std::function<double()>& clock) {
  double sum = 0;
  for (const std::int64_t length : options.test_lengths) {
    const ScoredTokens sample{data.scored.first, std::min(data.scored.count, 2 * length)};
    const double start = clock();
    segment_perplexity(model, data.held_out, sample, length, {.threads = options.threads});
    const double seconds = clock() - start;
    const std::int64_t all = tokens_to_score(data.scored, length, 0) +
                             tokens_to_score(data.scored, length, options.stride);
    sum += seconds * static_cast<double>(all) /
           static_cast<double>(tokens_to_score(sample, length, 0));
  }
  return sum;
}

}  // namespace

SchemeRun::SchemeRun(const ExtrapolationOptions& options, const ExtrapolationData& data,
                     std::size_t index, std::int64_t seed, const ExtrapolationObserver& observer)
    : options_(of_seed(options, seed)),
      data_(data),
      index_(index),
      asked_(options.schemes[index].schemes),
      observer_(observer) {}

LanguageTask SchemeRun::task() const {
  std::vector<std::int64_t> validation = validation_text(options_, data_.held_out);
  if (options_.trained == nullptr) {
    return LanguageTask({data_.tokenizer, data_.tokens, std::move(validation)},
                        config_of(options_, scheme()), options_.data);
  }
  TextModel model = copy_of(*options_.trained);
  if (!scheme().schemes.empty()) model.replace_schemes(scheme().schemes);
  return LanguageTask({data_.tokens, std::move(validation)}, std::move(model), options_.data);
}

void SchemeRun::report(ExtrapolationProgress progress) const {
  progress.scheme = index_;
  progress.seed = options_.data.seed;
  if (observer_) observer_(progress);
}

Measured SchemeRun::measure(const std::function<double()>& clock) const {
  constexpr std::int64_t kSteps = 5;  // after the first, which makes memory and tables
  report({.doing = "measuring"});
  LanguageTask own = task();
  AdamW optimiser(own.parameters());
  Workspace memory;
  std::vector<double> seconds;
  for (std::int64_t step = 0; step <= kSteps; ++step) {
    const double start = clock();
    for (std::int64_t batch = 0; batch < own.batches(step); ++batch) {
      memory.reset();
      Pass pass{.memory = memory, .threads = options_.threads, .dropout = options_.dropout};
      own.accumulate(step, batch, 1, pass);
    }
    optimiser.step(own.parameters(), own.gradients(), 0, options_.threads);
    if (step > 0) seconds.push_back(clock() - start);
  }
  std::ranges::sort(seconds);
  const double scoring = scoring_seconds(own.model(), options_, data_, clock);
  return {scheme().label, seconds[kSteps / 2], options_.trained == nullptr ? scoring : 2 * scoring};
}

bool SchemeRun::score(const LanguageModel<float>& model, ExtrapolationRow& row) const {
  const ScoringOptions scoring{.threads = options_.threads};
  for (const std::int64_t length : options_.test_lengths) {
    report({.doing = "scoring", .length = length});
    row.segments.push_back(
        segment_perplexity(model, data_.held_out, data_.scored, length, scoring));
    if (stops()) return false;
    row.sliding.push_back(
        sliding_perplexity(model, data_.held_out, data_.scored, length, options_.stride, scoring));
    if (stops()) return false;
  }
  return true;
}

std::optional<ExtrapolationRow> SchemeRun::make_row(std::optional<TrainingStage> stage,
                                                    std::int64_t steps) const {
  LanguageTask own = task();
  ExtrapolationRow row{.label = scheme().label,
                       .stage = stage,
                       .seed = options_.data.seed,
                       .schemes = without_own_seeds(own.model().config.schemes, asked_),
                       .weights = count_of(own.parameters())};
  if (stage != TrainingStage::before) {
    report({.doing = "training"});
    const TrainingResult trained = train(
        own, trainer_options(options_, scheme(), steps),
        [this](const TrainingProgress& step) { report({.doing = "training", .training = &step}); });
    if (trained.end == TrainingEnd::stopped) return std::nullopt;
    row.seconds = trained.seconds;
    row.validation_loss = trained.best_loss.value_or(0);
  }
  if (!score(own.model(), row)) return std::nullopt;
  return row;
}

}  // namespace sextant
