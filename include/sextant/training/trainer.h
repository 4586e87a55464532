// The loop over steps: batches, updates, validation, checkpoints, metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sextant/training/metrics.h"
#include "sextant/training/optimiser.h"
#include "sextant/training/schedule.h"
#include "sextant/training/task.h"

namespace sextant {

struct TrainerOptions {
  std::string folder;   // of the run; made if needed
  bool resume = false;  // go on with the run in `folder`; else there must be none that could

  // What the numbers depend on: kept in run.json; a run is resumed with the same only.
  std::uint64_t seed = 0;  // of dropout; of the data too, if the task takes it
  AdamWOptions optimiser{};
  Schedule schedule{};
  double dropout = 0;           // 0 <= dropout < 1, for Pass
  double word_dropout = 0;      // as well
  std::string settings = "{}";  // a JSON object of the caller's: the model, the data

  // When it ends: at the first that is reached; steps or minutes must be given.
  std::int64_t steps = 0;     // in all; 0: any number
  double minutes = 0;         // on the clock, across resumed runs; 0: any time
  std::int64_t patience = 0;  // validations in a row that are no better than the best; 0: any

  std::int64_t validate_every = 0;    // steps; 0: only at the end
  std::int64_t checkpoint_every = 0;  // steps; 0: by the clock, at a best validation, at the end
  double checkpoint_minutes = 5;      // 0: not by the clock
  int threads = 0;                    // as in parallel_for; the numbers do not depend on it

  std::function<bool()> should_stop;  // asked after each step: saves and returns when true
  std::function<double()> clock;      // seconds that only grow; empty: the steady clock
};

// The run in a folder, with all that its numbers depend on and resume = true: what an option
// --resume needs beside a limit. Throws Error when run.json is missing or is none of ours.
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
};

// Trains. Step i (from 0) sums the gradients of task.batches(i) batches, each scaled by 1 /
// task.target_tokens(i), and makes one AdamW step with learning_rate(schedule, i). The random seed
// is a function of `seed` and the step, the same for all batches of a step: a task tells their
// tokens apart by RandomKey::first_row. So a step has the same sums in one batch and in several, up
// to rounding, and a run that is killed at any moment and resumed gives the same weights and the
// same metrics.jsonl, bit for bit (but for seconds), as one that is not. At the end, folder/last is
// the model as it is in the task, folder/best the one with the lowest validation loss.
//
// Throws Error and keeps the checkpoints there are: for options out of range (named
// "trainer.OPTION"), for a run that does not fit the options, for files that are damaged or cannot
// be written, and with the step's number for a loss, gradient norm or validation loss that is not
// finite: the update is not applied then. A new run that throws before its first step is made
// leaves nothing behind.
TrainingResult train(TrainingTask& task, const TrainerOptions& options,
                     const TrainingObserver& observer = {});

}  // namespace sextant
