// Runs the loop over steps. The saved state is always the one between two steps.
#include "sextant/training/trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "core/options/enum_names.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/training/averaging_optimiser.h"
#include "training/gradients/group_or_self.h"
#include "training/gradients/step_gradients.h"
#include "training/held_out_loss.h"
#include "training/runs/run_description.h"
#include "training/runs/run_writer.h"
#include "training/runs/throughput.h"

namespace sextant {
namespace {

constexpr double kKept = 0.98;  // of the old mean loss at each step

double steady_seconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

class Trainer {
 public:
  Trainer(TrainingTask& task, const TrainerOptions& options, const TrainingObserver& observer)
      : task_(task),
        options_(options),
        observer_(observer),
        group_(options.group),
        clock_(group_.clock(options.clock ? options.clock : steady_seconds)),
        optimiser_(make_optimiser(task.parameters(), options.optimiser)) {
    group_.check_same(options, task.parameters());
    if (options.ema_decay > 0) {
      auto averaging = std::make_unique<AveragingOptimiser>(std::move(optimiser_),
                                                            task_.parameters(), options.ema_decay);
      averaging_ = averaging.get();
      optimiser_ = std::move(averaging);
    }
    use_average();                   // as a checkpoint has them
    group_.run_or_fail_on_all([&] {  // the first of a group has the folder
      if (options.folder.empty() || !group_.is_first()) return;
      writer_.emplace(options, task_, *optimiser_, state_);
    });
    group_.broadcast(task_.parameters(), *optimiser_, state_);
    start_ = clock_() - state_.seconds;
    saved_at_ = state_.seconds;
    pace_ = Throughput(state_.step, state_.seconds);
  }

  TrainingResult run() {
    std::optional<TrainingEnd> end = reached();
    set_to_zero(task_.gradients());  // after this each step of the optimiser does it
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
      if (keep) use_average();
      group_.run_or_fail_on_all([&] {
        if (writer_) writer_->write(progress.metrics, keep, task_, *optimiser_, state_);
      });
      if (keep && !options_.folder.empty()) {
        saved_at_ = state_.seconds;
        progress.saved = true;
      }
      progress.seconds_left = end ? 0 : pace_.seconds_left(options_, state_.step, state_.seconds);
      if (observer_) observer_(progress);
    }
    return {.end = *end,
            .step = state_.step,
            .seconds = state_.seconds,
            .tokens = state_.tokens,
            .best_loss = state_.best_loss,
            .best_step = state_.best_step,
            .folder = writer_ ? writer_->folder().path() : options_.folder,
            .lost_best_step = writer_ ? writer_->folder().lost_best_step() : std::nullopt};
  }

 private:
  std::optional<TrainingEnd> reached() const {
    if (options_.steps > 0 && state_.step >= options_.steps) return TrainingEnd::steps;
    if (options_.minutes > 0 && state_.seconds >= options_.minutes * 60) {
      return TrainingEnd::minutes;
    }
    if (options_.patience > 0 && state_.validations_since_best >= options_.patience) {
      return TrainingEnd::patience;
    }
    return std::nullopt;
  }

  // The task has the average while it is validated or saved, and the weights in a step.
  void use_average() {
    if (averaging_ != nullptr) averaging_->use_average(task_.parameters());
  }
  void use_weights() {
    if (averaging_ != nullptr) averaging_->use_weights(task_.parameters());
  }

  bool checkpoint_due() const {
    return (options_.checkpoint_every > 0 && state_.step % options_.checkpoint_every == 0) ||
           (options_.checkpoint_minutes > 0 &&
            state_.seconds - saved_at_ >= options_.checkpoint_minutes * 60);
  }

  // `step` is counted from 1, as in the metrics. All ranks of a group have the value, and the first
  // one knows the checkpoints.
  void check_finite(const char* what, double value, std::int64_t step) const {
    if (std::isfinite(value)) return;
    group_.run_or_fail_on_all([&] {
      if (!group_.is_first()) return;
      const std::string kept = writer_ ? writer_->last_checkpoint_text() : "";
      throw Error(std::string("train.") + what,
                  "must be finite, got " + shortest(value) + " at step " + std::to_string(step) +
                      "; " + (kept.empty() ? "no checkpoint was made before" : kept));
    });
  }

  StepMetrics make_step() {
    const double before = clock_();
    use_weights();
    const std::int64_t number = state_.step + 1;
    const LossSum sum = sum_gradients(task_, state_.step, options_, group_, memory_);
    const auto tokens = static_cast<double>(sum.tokens);
    StepMetrics metrics{.step = number,
                        .loss = sum.loss / tokens,
                        .objective = sum.smoothed / tokens,
                        .learning_rate = learning_rate(options_.schedule, state_.step)};
    check_finite("loss", metrics.loss, number);
    check_finite("objective", metrics.objective, number);
    metrics.gradient_norm = optimiser_->step(task_.parameters(), task_.gradients(),
                                             metrics.learning_rate, options_.threads);
    check_finite("gradient_norm", metrics.gradient_norm, number);

    state_.step = number;
    state_.tokens += sum.tokens;
    state_.mean_loss = kKept * state_.mean_loss + (1 - kKept) * metrics.loss;
    const double now = clock_();
    state_.seconds = now - start_;
    pace_.add(tokens, now - before);
    metrics.mean_loss = state_.mean_loss / (1 - std::pow(kKept, static_cast<double>(state_.step)));
    metrics.tokens = state_.tokens;
    metrics.seconds = state_.seconds;
    metrics.tokens_per_second = pace_.tokens_per_second();
    return metrics;
  }

  // Whether it is the best so far.
  bool validate(StepMetrics& metrics) {
    use_average();
    const LossSum sum = held_out_loss(task_, options_.threads, group_, memory_);
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
      state_.validations_since_best = 0;
    } else {
      ++state_.validations_since_best;
    }
    return best;
  }

  TrainingTask& task_;
  const TrainerOptions& options_;
  const TrainingObserver& observer_;
  GroupOrSelf group_;
  std::function<double()> clock_;
  std::optional<RunWriter> writer_;
  std::unique_ptr<Optimiser> optimiser_;
  AveragingOptimiser* averaging_ = nullptr;  // optimiser_ if it averages
  TrainingState state_;
  Workspace memory_;
  Throughput pace_{0, 0};
  double start_ = 0, saved_at_ = 0;  // on the clock, in state_.seconds
};

}  // namespace

std::string_view name_of(TrainingEnd end) noexcept {
  return enum_name(end, {"steps", "minutes", "patience", "stopped"});
}

TrainingResult train(TrainingTask& task, const TrainerOptions& options,
                     const TrainingObserver& observer) {
  GroupOrSelf(options.group).run_or_fail_on_all([&] { check_options(options); });
  return Trainer(task, options, observer).run();
}

}  // namespace sextant
