// The loop over steps: batches, updates, validation, checkpoints, metrics.
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
  // When it ends: at the first that is reached; steps or minutes must be given.
  std::int64_t steps = 0;     // in total; 0: no limit
  double minutes = 0;         // of wall time, across resumed runs; 0: no limit
  std::int64_t patience = 0;  // validations in a row without a new best loss; 0: no limit

  std::string folder{};  // of the run; created if needed. Empty: nothing is written
  bool resume = false;   // continue the run in `folder`; else it must not hold a run that could be
                         // resumed

  // What the results depend on: stored in run.json; a run can only be resumed with the same values.
  std::uint64_t seed = 0;  // of dropout; of the data too, if the task takes it
  AdamWOptions optimiser{};
  Schedule schedule{};
  double dropout = 0;           // 0 <= dropout < 1, for Pass
  double word_dropout = 0;      // as well
  std::string settings = "{}";  // a JSON object of the caller's: the model, the data

  std::int64_t validate_every = 0;    // steps; 0: only at the end
  std::int64_t checkpoint_every = 0;  // steps; 0: by the clock, at a best validation, at the end
  double checkpoint_minutes = 5;      // 0: not by the clock
  int threads = 0;                    // as in parallel_for; the numbers do not depend on it

  // Processes that share the work: each computes the gradients of some batches of a step, or of a
  // part of each sequence, and has the same weights. With whole sequences the bits are those of one
  // process, whatever the number of ranks. nullptr: none.
  TrainingGroup* group = nullptr;

  // Asked after each step, whose metrics it gets: saves and returns when true.
  std::function<bool(const StepMetrics&)> should_stop{};
  std::function<double()> clock{};  // seconds, never decreasing; empty: the steady clock
};

// The options of the run in a folder, with resume = true: all that --resume needs besides a limit.
// Throws Error when run.json is missing or not valid.
TrainerOptions read_run(const std::string& folder);

struct TrainingProgress {
  StepMetrics metrics;
  std::int64_t steps = 0;              // TrainerOptions::steps
  std::optional<double> seconds_left;  // unknown at first
  bool saved = false;                  // a checkpoint of this step was written
};
using TrainingObserver = std::function<void(const TrainingProgress&)>;

enum class TrainingEnd { steps, minutes, patience, stopped };
std::string_view name_of(TrainingEnd end) noexcept;  // "steps", ...

struct TrainingResult {
  TrainingEnd end = TrainingEnd::steps;
  std::int64_t step = 0;            // made in all
  double seconds = 0;               // spent in all
  std::int64_t tokens = 0;          // targets seen in all
  std::optional<double> best_loss;  // validation loss per token
  std::int64_t best_step = 0;       // folder/best is the model after this step
  // The run's folder: options.folder, or where it is after it was moved while it trained or the
  // working directory changed.
  std::string folder{};
  // Of a resumed run whose best checkpoint was gone: its step. The best is then that of the
  // validations after it was resumed.
  std::optional<std::int64_t> lost_best_step{};
};

// Trains. Step i (from 0) sums the gradients of task.batches(i) batches, each scaled by 1 /
// task.target_tokens(i), and makes one AdamW step with learning_rate(schedule, i). The random seed
// is a function of `seed` and the step, the same for all batches of a step: a task tells their
// tokens apart by RandomKey::first_row. So a step has the same sums in one batch and in several, up
// to rounding (those of several are added in pairs, then pairs of pairs), and a run that is killed
// at any moment and resumed gives the same weights and the same metrics.jsonl, bit for bit (but for
// seconds), as one that is not. At the end, the task has the weights of the last step, which
// folder/last has too; folder/best is the model with the lowest validation loss. Without a folder
// the best loss is only reported.
//
// With a group, all of it call train() with equal tasks and options. Its first rank writes the
// folder and has the clock; weights and the state come from it. What the others have in
// `folder` and `clock` is not looked at. They get the same result, and stop together where
// should_stop of any is true. More ranks than batches: the others have nothing to do. What is
// thrown is thrown on all; what must be equal and is not, is an Error that names it.
//
// Throws Error and keeps existing checkpoints: for options out of range (named "trainer.OPTION"),
// for a run that does not fit the options, for files that are damaged or cannot be written, and
// with the step's number for a loss, gradient norm or validation loss that is not finite: the
// update is not applied then. A new run that throws before its first step is made leaves nothing
// behind.
TrainingResult train(TrainingTask& task, const TrainerOptions& options,
                     const TrainingObserver& observer = {});

}  // namespace sextant
