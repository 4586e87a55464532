// Scheme by scheme: measure, train, score, write down.
#include "sextant/experiments/extrapolation_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "core/json.h"
#include "experiments/extrapolation_plan.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// What of the held-out text train() looks at in the end: a fair sample, not minutes of work.
std::vector<std::int64_t> validation_text(const ExtrapolationOptions& options,
                                          const std::vector<std::int64_t>& held_out) {
  const auto limit = static_cast<std::size_t>(128 * options.data.length + 1);
  const auto count = static_cast<std::ptrdiff_t>(std::min(limit, held_out.size()));
  return {held_out.begin(), held_out.begin() + count};
}

class Experiment {
 public:
  Experiment(const ExtrapolationOptions& options, const Tokenizer& tokenizer,
             const std::vector<std::int64_t>& tokens, const std::vector<std::int64_t>& held_out,
             const ExtrapolationObserver& observer)
      : options_(options),
        tokenizer_(tokenizer),
        tokens_(tokens),
        held_out_(held_out),
        observer_(observer),
        clock_(options.clock ? options.clock : steady_seconds),
        results_(options.folder + "/results.json"),
        scored_(scored_tokens(static_cast<std::int64_t>(held_out.size()),
                              options.test_lengths.back(), options.scored)) {}

  ExtrapolationResult run() {
    std::error_code error;
    std::filesystem::create_directories(options_.folder, error);
    if (error) throw Error(options_.folder, "cannot be made: " + error.message());
    const std::int64_t steps = plan_steps(options_, tokens_, [this] { return measure(); });
    ExtrapolationTable known{.train_length = options_.data.length,
                             .steps = steps,
                             .stride = options_.stride,
                             .scored = scored_,
                             .lengths = options_.test_lengths};
    ExtrapolationResult result{.table = known};
    known.rows = finished_rows(known);
    for (std::size_t i = 0; i < options_.schemes.size() && !result.stopped; ++i) {
      const auto found =
          std::ranges::find(known.rows, options_.schemes[i].label, &ExtrapolationRow::label);
      if (found != known.rows.end()) {
        result.table.rows.push_back(*found);
        continue;
      }
      std::optional<ExtrapolationRow> row = train_and_score(i, steps);
      result.stopped = !row;
      if (!row) continue;
      known.rows.push_back(*row);
      save(known);
      result.table.rows.push_back(std::move(*row));
    }
    return result;
  }

 private:
  LanguageTask task_of(const ExtrapolationScheme& scheme) const {
    return LanguageTask({tokenizer_, tokens_, validation_text(options_, held_out_)},
                        config_of(options_, scheme), options_.data);
  }

  void report(const ExtrapolationProgress& progress) const {
    if (observer_) observer_(progress);
  }

  bool stops() const { return options_.should_stop && options_.should_stop(); }

  // The text that scores depend on goes with the table.
  void save(const ExtrapolationTable& table) const {
    Json json = Json::parse(format_json(table));
    json["text"] = fingerprint(held_out_);
    write_file(results_, json.dump(2) + "\n");
  }

  // Rows of results.json that were scored as is asked for now.
  std::vector<ExtrapolationRow> finished_rows(const ExtrapolationTable& wanted) const {
    std::error_code ignored;
    if (!std::filesystem::exists(results_, ignored)) return {};
    const std::string text = read_file(results_, JsonLimits{}.bytes);
    ExtrapolationTable found = parse_extrapolation(text, results_);
    const Json json = Json::parse(text);
    const bool same = found.train_length == wanted.train_length && found.steps == wanted.steps &&
                      found.stride == wanted.stride && found.lengths == wanted.lengths &&
                      found.scored.first == wanted.scored.first &&
                      found.scored.count == wanted.scored.count &&
                      json.value("text", "") == fingerprint(held_out_);
    return same ? std::move(found.rows) : std::vector<ExtrapolationRow>();
  }

  // What a step and the scores of each scheme take, from a few that are not counted.
  std::vector<Measured> measure() {
    constexpr std::int64_t kSteps = 5;  // behind the first, which makes memory and tables
    std::vector<Measured> all;
    for (std::size_t i = 0; i < options_.schemes.size(); ++i) {
      report({.scheme = i, .doing = "measuring"});
      const ExtrapolationScheme& scheme = options_.schemes[i];
      LanguageTask task = task_of(scheme);
      AdamW optimiser(task.parameters());
      Workspace memory;
      std::vector<double> seconds;
      for (std::int64_t step = 0; step <= kSteps; ++step) {
        const double start = clock_();
        for (std::int64_t batch = 0; batch < task.batches(step); ++batch) {
          memory.reset();
          Pass pass{.memory = memory, .threads = options_.threads, .dropout = options_.dropout};
          task.accumulate(step, batch, 1, pass);
        }
        optimiser.step(task.parameters(), task.gradients(), 0, options_.threads);
        if (step > 0) seconds.push_back(clock_() - start);
      }
      std::ranges::sort(seconds);
      all.push_back({scheme.label, seconds[kSteps / 2], scoring_seconds(task.model())});
    }
    return all;
  }

  // Measured on a sample of the tokens at each length, and scaled to all of them.
  double scoring_seconds(const LanguageModel<float>& model) const {
    double sum = 0;
    for (const std::int64_t length : options_.test_lengths) {
      const ScoredTokens sample{scored_.first, std::min(scored_.count, 2 * length)};
      const double start = clock_();
      segment_perplexity(model, held_out_, sample, length, {.threads = options_.threads});
      const double seconds = clock_() - start;
      const std::int64_t all =
          tokens_to_score(scored_, length, 0) + tokens_to_score(scored_, length, options_.stride);
      sum += seconds * static_cast<double>(all) /
             static_cast<double>(tokens_to_score(sample, length, 0));
    }
    return sum;
  }

  std::optional<ExtrapolationRow> train_and_score(std::size_t index, std::int64_t steps) {
    const ExtrapolationScheme& scheme = options_.schemes[index];
    LanguageTask task = task_of(scheme);
    report({.scheme = index, .doing = "training"});
    const TrainingResult trained =
        train(task, trainer_options(options_, scheme, steps), [&](const TrainingProgress& step) {
          report({.scheme = index, .doing = "training", .training = &step});
        });
    if (trained.end == TrainingEnd::stopped) return std::nullopt;
    ExtrapolationRow row{.label = scheme.label,
                         .positions = task.model().config.positions,
                         .weights = count_of(task.parameters()),
                         .seconds = trained.seconds,
                         .validation_loss = trained.best_loss.value_or(0)};
    const ScoringOptions scoring{.threads = options_.threads};
    for (const std::int64_t length : options_.test_lengths) {
      report({.scheme = index, .doing = "scoring", .length = length});
      row.segments.push_back(segment_perplexity(task.model(), held_out_, scored_, length, scoring));
      if (stops()) return std::nullopt;
      row.sliding.push_back(
          sliding_perplexity(task.model(), held_out_, scored_, length, options_.stride, scoring));
      if (stops()) return std::nullopt;
    }
    return row;
  }

  const ExtrapolationOptions& options_;
  const Tokenizer& tokenizer_;
  const std::vector<std::int64_t>&tokens_, &held_out_;
  const ExtrapolationObserver& observer_;
  std::function<double()> clock_;
  std::string results_;
  ScoredTokens scored_;
};

}  // namespace

ExtrapolationResult extrapolate(const ExtrapolationOptions& options, const Tokenizer& tokenizer,
                                const std::vector<std::int64_t>& tokens,
                                const std::vector<std::int64_t>& held_out,
                                const ExtrapolationObserver& observer) {
  check_options(options);
  return Experiment(options, tokenizer, tokens, held_out, observer).run();
}

}  // namespace sextant
