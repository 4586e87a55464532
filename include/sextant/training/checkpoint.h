// Manages run folders: the settings of a training run, and checkpoints from which it resumes.
// docs/models.md shows one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sextant/training/optimiser.h"
#include "sextant/training/task.h"

namespace sextant {

// The state of a training run besides the weights and the optimiser. Data and random numbers are
// functions of the seed and the step.
struct TrainingState {
  std::int64_t step = 0;            // number of finished steps
  double seconds = 0;               // seconds of training, across resumed runs
  std::int64_t tokens = 0;          // number of targets seen
  double mean_loss = 0;             // moving average that starts at 0: see Trainer
  std::optional<double> best_loss;  // lowest validation loss per token
  std::int64_t best_step = 0;       // step of the best loss
  std::int64_t validations_since_best = 0;
  std::int64_t metrics_bytes = 0;  // length of metrics.jsonl
  std::string metrics_checksum{};  // checksum of its lines
};

// One run's folder, locked against other processes while this object lives:
//   run.json                the settings
//   checkpoint-000000123/   model.safetensors and other files of the task, optimiser.safetensors,
//                           training.json
//   last, best              links to checkpoints
// A checkpoint is written under a temporary name, flushed, and renamed: it is complete when it has
// its name. A process may be killed at any moment.
class RunFolder {
 public:
  // Throws the Error of create() for an existing folder, before the work for a new run.
  static void check_new(const std::string& path);
  // Starts a new run; makes the folder if needed. description: a JSON object. Files of a run
  // without a checkpoint, which was killed early or diverged, are replaced. Throws Error if the
  // folder has another run, is locked by another process, or cannot be written.
  static RunFolder create(const std::string& path, const std::string& description);
  // Opens an existing run. Removes incomplete files of a killed process. Throws Error if there is
  // none, if its checkpoints are missing, or if training.json of the last one is damaged.
  static RunFolder open(const std::string& path);
  RunFolder(RunFolder&&) noexcept;
  ~RunFolder();

  // Returns the path as given. After a save() that found the folder moved, or a change of the
  // working directory, it is the current one.
  const std::string& path() const noexcept { return path_; }
  const std::string& description() const noexcept { return description_; }
  // Returns the step of the last checkpoint.
  std::optional<std::int64_t> last_step() const noexcept { return last_; }
  // After open(): the step of the best checkpoint if it is missing. The run has none until the next
  // validation, from which the best is chosen then.
  std::optional<std::int64_t> lost_best_step() const noexcept { return lost_best_; }

  // Removes what create() made, unless there is a checkpoint, for a run that was refused.
  void discard() noexcept;

  // Saves the task's model, the optimiser and the state as the last checkpoint, and as the best one
  // if state.best_step is state.step; then removes all others. It follows a folder that was moved.
  // After any failure (a full disk, a parameter that is not finite, a folder that was removed) it
  // throws Error and the earlier ones stay.
  void save(TrainingTask& task, Optimiser& optimiser, const TrainingState& state);

  // Loads the last checkpoint into the task and the optimiser; the initial state if there is none.
  // First it compares every byte with the checksums in training.json: it throws an Error with the
  // file for one that is damaged, missing or does not match, and then changes nothing. Removes the
  // rests of a killed process.
  TrainingState load(TrainingTask& task, Optimiser& optimiser) const;

 private:
  struct Held;
  RunFolder(std::string path, std::string description, std::unique_ptr<Held> held);
  std::string folder_of(std::int64_t step) const;
  TrainingState last_state() const;
  void write(const std::string& folder, TrainingTask& task, Optimiser& optimiser,
             const TrainingState& state);
  void set_links(const TrainingState& state) const;
  void remove_all_but(std::int64_t last, std::int64_t best) const;

  std::string path_, description_;
  std::unique_ptr<Held> held_;
  std::optional<std::int64_t> last_, lost_best_;
  bool model_checked_ = false;  // whether load() could read the task's saved model
};

}  // namespace sextant
