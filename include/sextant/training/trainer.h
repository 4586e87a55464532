// Runs the loop over steps: batches, updates, validation, checkpoints, metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sextant/training/group.h"
#include "sextant/training/metrics.h"
#include "sextant/training/optimiser.h"
#include "sextant/training/schedule.h"
#include "sextant/training/task.h"

namespace sextant {

struct TrainerOptions {
  // The limits of a training, which ends at the first that is reached; steps or minutes must be
  // given.
  std::int64_t steps = 0;     // in total; 0: no limit
  double minutes = 0;         // minutes of wall time, across resumed runs; 0: no limit
  std::int64_t patience = 0;  // validations in a row without a new best loss; 0: no limit

  std::string folder{};  // folder of the run, created if needed. Empty: nothing is written
  // Continue the run in `folder`; else it must not have a run that could be resumed.
  bool resume = false;

  // The settings that the results depend on are stored in run.json; a run can only be resumed with
  // the same values.
  std::uint64_t seed = 0;  // seed of dropout; of the data too, if the task uses it
  OptimiserOptions optimiser{};
  Schedule schedule{};
  double dropout = 0;            // 0 <= dropout < 1, for Pass
  double attention_dropout = 0;  // the same for attention weights; 0 where sequences are divided
  double word_dropout = 0;       // the same for whole words
  // 0 <= ema_decay < 1: the decay of a moving average of the weights, by an AveragingOptimiser.
  // Validation and the models in the folder use the average. The task has it from a validation or a
  // checkpoint until the next step, and at the end: should_stop finds it in the task after a step
  // with a validation, and the weights after another step. 0: no average.
  double ema_decay = 0;
  std::string settings = "{}";  // the caller's JSON object: the model, the data

  std::int64_t validate_every = 0;    // steps; 0: only at the end
  std::int64_t checkpoint_every = 0;  // steps; 0: by the clock, at a best validation, at the end
  double checkpoint_minutes = 5;      // 0: not by the clock
  int threads = 0;                    // as in parallel_for; the numbers do not depend on it

  // Processes that share the work: each computes the gradients of some batches of a step, or of a
  // part of each sequence, and has the same weights. With whole sequences the bits are those of one
  // process, for any number of ranks. nullptr: none.
  TrainingGroup* group = nullptr;

  // Called after each step with its metrics; saves and returns if true.
  std::function<bool(const StepMetrics&)> should_stop{};
  std::function<double()> clock{};  // seconds, never decreasing; empty: the steady clock
};

// Returns the options of the run in a folder, with resume = true: all that --resume needs besides a
// limit. Throws Error if run.json is missing or invalid.
TrainerOptions read_run(const std::string& folder);

struct TrainingProgress {
  StepMetrics metrics;
  std::int64_t steps = 0;              // TrainerOptions::steps
  std::optional<double> seconds_left;  // initially unknown
  bool saved = false;                  // a checkpoint of this step was written
};
using TrainingObserver = std::function<void(const TrainingProgress&)>;

enum class TrainingEnd { steps, minutes, patience, stopped };
std::string_view name_of(TrainingEnd end) noexcept;  // "steps", ...

struct TrainingResult {
  TrainingEnd end = TrainingEnd::steps;
  std::int64_t step = 0;            // total number of steps
  double seconds = 0;               // total time
  std::int64_t tokens = 0;          // total number of targets
  std::optional<double> best_loss;  // validation loss per token
  std::int64_t best_step = 0;       // folder/best is the model after this step
  // The run's folder: options.folder, or its current place if it was moved during the training or
  // the working directory changed.
  std::string folder{};
  // For a resumed run whose best checkpoint was missing: its step. The best is then that of the
  // validations after the run was resumed.
  std::optional<std::int64_t> lost_best_step{};
};

// Trains. Step i (from 0) sums the gradients of task.batches(i) batches, each scaled by 1 /
// task.target_tokens(i), and makes one step of the optimiser with learning_rate(schedule, i). The
// random seed is a function of `seed` and the step, the same for all batches of a step: a task
// distinguishes their tokens by RandomKey::first_row. So a step has the same sums in one batch and
// in several, up to rounding (those of several are added in pairs, then pairs of pairs). A run that
// is killed at any moment and resumed gives the same weights and the same metrics.jsonl (except for
// seconds), bit for bit, as one that is not killed. At the end, the task has the weights of the
// last step, or their average, as does folder/last; folder/best is the model with the lowest
// validation loss. Without a folder the best loss is only reported.
//
// With a group, all ranks call train() with equal tasks and options. The first rank writes the
// folder and has the clock; weights and the state come from it. `folder` and `clock` of the others
// are ignored. All ranks get the same result, and stop together if should_stop is true on any. If
// there are more ranks than batches, the others have nothing to do. An exception is thrown on all;
// a difference between ranks is an Error that names it.
//
// Throws Error and keeps existing checkpoints: for options out of range (named "trainer.OPTION"),
// for a run that does not fit the options, for files that are damaged or cannot be written, and
// with the step's number for a loss, gradient norm or validation loss that is not finite; the
// update is then not applied. A new run that throws before its first step leaves no files.
TrainingResult train(TrainingTask& task, const TrainerOptions& options,
                     const TrainingObserver& observer = {});

}  // namespace sextant
