// The loop over steps. What is kept is always the state between two steps.
#include "sextant/training/trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "core/enum_names.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/training/checkpoint.h"
#include "training/gradient_tree.h"
#include "training/metrics_file.h"
#include "training/mixed.h"
#include "training/run_description.h"
#include "training/whole_group.h"

namespace sextant {
namespace {

constexpr double kKept = 0.98;      // of the old mean loss at each step
constexpr double kSpeedKept = 0.9;  // of the old speed

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Of dropout: a function of all bits of both.
std::uint64_t step_seed(std::uint64_t seed, std::int64_t step) {
  return mixed(mixed(mixed(seed, 0) ^ static_cast<std::uint64_t>(step), 0), 0);
}

// Takes a new run back unless it begins.
class NewRun {
 public:
  NewRun(std::optional<RunFolder>& run, bool is_new) : run_(run && is_new ? &*run : nullptr) {}
  NewRun(const NewRun&) = delete;
  NewRun& operator=(const NewRun&) = delete;
  ~NewRun() {
    if (run_ != nullptr) run_->discard();
  }
  void begins() noexcept { run_ = nullptr; }

 private:
  RunFolder* run_;
};

class Trainer {
 public:
  Trainer(TrainingTask& task, const TrainerOptions& options, const TrainingObserver& observer)
      : task_(task),
        options_(options),
        observer_(observer),
        group_(options.group),
        clock_(group_.clock(options.clock ? options.clock : steady_seconds)),
        optimiser_(task.parameters(), options.optimiser) {
    group_.check_same(options, task.parameters());
    group_.together([&] { open(); });
    group_.broadcast(task_.parameters(), optimiser_, state_);
    start_ = clock_() - state_.seconds;
    saved_at_ = state_.seconds;
    sitting_step_ = state_.step;
    sitting_seconds_ = state_.seconds;
  }

  TrainingResult run() {
    std::optional<TrainingEnd> end = reached();
    set_to_zero(task_.gradients());  // from here on each step of AdamW does
    while (!end) {
      TrainingProgress progress{.metrics = make_step(), .steps = options_.steps};
      end = reached();
      bool best = false;
      const bool due = options_.validate_every > 0 && state_.step % options_.validate_every == 0;
      if (due || end) best = validate(progress.metrics);
      if (!end) end = reached();
      const bool stop = group_.any(options_.should_stop && options_.should_stop(progress.metrics));
      if (!end && stop) end = TrainingEnd::stopped;
      state_.seconds = progress.metrics.seconds = clock_() - start_;
      const bool keep = best || end || checkpoint_due();
      group_.together([&] { write(progress.metrics, keep); });
      if (keep && !options_.folder.empty()) {
        saved_at_ = state_.seconds;
        progress.saved = true;
      }
      progress.seconds_left = end ? 0 : seconds_left();
      if (observer_) observer_(progress);
    }
    return {.end = *end,
            .step = state_.step,
            .seconds = state_.seconds,
            .tokens = state_.tokens,
            .best_loss = state_.best_loss,
            .best_step = state_.best_step};
  }

 private:
  // The folder, by the first of a group alone.
  void open() {
    if (options_.folder.empty() || !group_.is_first()) return;
    run_.emplace(options_.resume ? RunFolder::open(options_.folder)
                                 : RunFolder::create(options_.folder, describe_run(options_)));
    new_run_.emplace(run_, !options_.resume);
    if (options_.resume) check_same_run(run_->path() + "/run.json", run_->description(), options_);
    state_ = run_->load(task_, optimiser_);
    metrics_.emplace(run_->path() + "/metrics.jsonl", state_.metrics_bytes,
                     state_.metrics_checksum);
  }

  void write(const StepMetrics& metrics, bool keep) {
    if (!run_) return;
    metrics_->append(metrics);
    state_.metrics_bytes = metrics_->bytes();
    state_.metrics_checksum = metrics_->checksum();
    new_run_->begins();
    if (!keep) return;
    metrics_->sync();
    run_->save(task_, optimiser_, state_);
  }

  std::optional<TrainingEnd> reached() const {
    if (options_.steps > 0 && state_.step >= options_.steps) return TrainingEnd::steps;
    if (options_.minutes > 0 && state_.seconds >= options_.minutes * 60) {
      return TrainingEnd::minutes;
    }
    if (options_.patience > 0 && state_.since_best >= options_.patience) {
      return TrainingEnd::patience;
    }
    return std::nullopt;
  }

  bool checkpoint_due() const {
    return (options_.checkpoint_every > 0 && state_.step % options_.checkpoint_every == 0) ||
           (options_.checkpoint_minutes > 0 &&
            state_.seconds - saved_at_ >= options_.checkpoint_minutes * 60);
  }

  // `step` is counted from 1, as in the metrics.
  // The first of a group knows the checkpoints.
  void check_finite(const char* what, double value, std::int64_t step) {
    if (std::isfinite(value)) return;
    group_.together([&] {
      if (!group_.is_first()) return;
      const auto last = run_ ? run_->last_step() : std::nullopt;
      throw Error(std::string("train.") + what,
                  "must be finite, got " + shortest(value) + " at step " + std::to_string(step) +
                      (last ? "; " + run_->path() + "/last keeps step " + std::to_string(*last)
                            : std::string("; no checkpoint was made before")));
    });
  }

  LossSum sum_gradients() {
    const std::int64_t step = state_.step;
    const std::int64_t targets = task_.target_tokens(step);
    const std::int64_t batches = task_.batches(step);
    const std::string at = " at step " + std::to_string(step + 1);
    if (targets < 1 || batches < 1) {
      throw Error("task", "must have targets and batches" + at + ", got " +
                              std::to_string(targets) + " and " + std::to_string(batches));
    }
    const bool alone = batches == 1 && group_.get() == nullptr;  // nothing to add up
    GradientTree tree(batches, group_.get());
    std::vector<LossSum> losses(static_cast<std::size_t>(batches));
    group_.together([&] {
      const auto [first, last] = group_.parts(batches);
      for (std::int64_t batch = first; batch < last; ++batch) {
        memory_.reset();
        Pass pass{.memory = memory_,
                  .threads = options_.threads,
                  .dropout = options_.dropout,
                  .random = {.seed = step_seed(options_.seed, step)},
                  .word_dropout = options_.word_dropout};
        losses[static_cast<std::size_t>(batch)] =
            task_.accumulate(step, batch, 1 / static_cast<double>(targets), pass);
        if (!alone) tree.take(batch, task_.gradients());
      }
    });
    if (!alone) tree.finish(task_.gradients());
    group_.share(losses);
    LossSum sum;
    for (const LossSum& each : losses) sum.add(each);
    if (sum.tokens != targets) {
      throw Error("task.accumulate", "must sum over the " + std::to_string(targets) + " targets" +
                                         at + ", got " + std::to_string(sum.tokens));
    }
    return sum;
  }

  StepMetrics make_step() {
    const double before = clock_();
    const std::int64_t number = state_.step + 1;
    const LossSum sum = sum_gradients();
    const auto tokens = static_cast<double>(sum.tokens);
    StepMetrics metrics{.step = number,
                        .loss = sum.loss / tokens,
                        .objective = sum.smoothed / tokens,
                        .learning_rate = learning_rate(options_.schedule, state_.step)};
    check_finite("loss", metrics.loss, number);
    check_finite("objective", metrics.objective, number);
    metrics.gradient_norm = optimiser_.step(task_.parameters(), task_.gradients(),
                                            metrics.learning_rate, options_.threads);
    check_finite("gradient_norm", metrics.gradient_norm, number);

    state_.step = number;
    state_.tokens += sum.tokens;
    state_.mean_loss = kKept * state_.mean_loss + (1 - kKept) * metrics.loss;
    const double now = clock_();
    state_.seconds = now - start_;
    recent_tokens_ = kSpeedKept * recent_tokens_ + tokens;
    recent_seconds_ = kSpeedKept * recent_seconds_ + (now - before);
    metrics.mean_loss = state_.mean_loss / (1 - std::pow(kKept, static_cast<double>(state_.step)));
    metrics.tokens = state_.tokens;
    metrics.seconds = state_.seconds;
    metrics.tokens_per_second = recent_seconds_ > 0 ? recent_tokens_ / recent_seconds_ : 0;
    return metrics;
  }

  // Whether it is the best so far.
  bool validate(StepMetrics& metrics) {
    LossSum sum;
    group_.together([&] {
      if (!group_.is_first()) return;
      memory_.reset();
      Pass pass{.memory = memory_, .threads = options_.threads};
      sum = task_.validate(pass);
    });
    group_.broadcast(sum);
    if (sum.tokens == 0) return false;  // nothing was held out
    const auto tokens = static_cast<double>(sum.tokens);
    const double loss = sum.loss / tokens;
    check_finite("validation_loss", loss, state_.step);
    metrics.validation_loss = loss;
    metrics.validation_accuracy = static_cast<double>(sum.correct) / tokens;
    const bool best = !state_.best_loss || loss < *state_.best_loss;
    if (best) {
      state_.best_loss = loss;
      state_.best_step = state_.step;
      state_.since_best = 0;
    } else {
      ++state_.since_best;
    }
    return best;
  }

  std::optional<double> seconds_left() const {
    std::optional<double> left;
    if (options_.minutes > 0) left = std::max(0.0, options_.minutes * 60 - state_.seconds);
    if (options_.steps > 0) {
      const double per_step =
          (state_.seconds - sitting_seconds_) / static_cast<double>(state_.step - sitting_step_);
      const double by_steps = per_step * static_cast<double>(options_.steps - state_.step);
      left = left ? std::min(*left, by_steps) : by_steps;
    }
    return left;
  }

  TrainingTask& task_;
  const TrainerOptions& options_;
  const TrainingObserver& observer_;
  WholeGroup group_;
  std::function<double()> clock_;
  std::optional<RunFolder> run_;
  std::optional<NewRun> new_run_;  // behind run_: it goes first
  std::optional<MetricsFile> metrics_;
  AdamW optimiser_;
  TrainingState state_;
  Workspace memory_;
  double start_ = 0, saved_at_ = 0;  // on the clock, in state_.seconds
  std::int64_t sitting_step_ = 0;    // where this sitting began
  double sitting_seconds_ = 0;
  double recent_tokens_ = 0, recent_seconds_ = 0;  // of the last steps
};

}  // namespace

std::string_view name_of(TrainingEnd end) noexcept {
  return enum_name(end, {"steps", "minutes", "patience", "stopped"});
}

TrainingResult train(TrainingTask& task, const TrainerOptions& options,
                     const TrainingObserver& observer) {
  check_options(options);
  return Trainer(task, options, observer).run();
}

}  // namespace sextant
