// What a training is asked for: what run.json keeps of it, and what a task starts from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/models/transformer_config.h"
#include "sextant/text/pairs.h"
#include "sextant/text/tokenizer.h"
#include "sextant/training/tasks/augment_pairs.h"
#include "sextant/training/tasks/built_in_data.h"
#include "sextant/training/tasks/text_data.h"
#include "sextant/training/tasks/token_task.h"
#include "sextant/training/trainer.h"

namespace sextant {

// A file to learn from, and what it held when the run began.
struct DataFile {
  std::string path;  // absolute
  std::string checksum = {};
};

// The same data in other places: the checksums stay, for make_task() to compare. Throws
// Error(where,
// ...) for another number of files.
void move_data(std::vector<DataFile>& files, const std::vector<std::string>& paths,
               std::string_view where);

struct TrainingSettings {
  std::string kind;                      // one of kTrainingKinds
  std::vector<DataFile> files;           // texts, one of tokens (.safetensors), or one of pairs
  std::vector<DataFile> valid;           // of pairs: one or none
  std::vector<DataFile> from;            // a model's folder to start from: one or none
  std::vector<DataFile> tokenizer_from;  // a folder with the tokenizer to use: one or none
  std::vector<DataFile> table;           // of the scheme, --scheme-file to start from: one or none
  bool reverse = false;                  // the second column is the source
  PairAugmentation augment{};            // of pairs
  DocumentUnit documents = DocumentUnit::none;  // of texts
  double held_out = 0.1;                        // part of the data, 0 < held_out < 1
  TokenizerTraining tokenizer{};                // of the training part
  TransformerConfig model{};
  TaskOptions task{};  // but for the seed, which is the trainer's

  bool is_pairs() const { return kind == "translate" || is_built_in(kind); }
};

// Periods in passes over the data, which are steps as soon as the data is known; 0: the trainer's.
struct EpochOptions {
  double epochs = 0;             // in total, as TrainerOptions::steps
  double warmup_epochs = 0;      // as Schedule::warmup
  double validate_epochs = 0;    // as TrainerOptions::validate_every
  double checkpoint_epochs = 0;  // as TrainerOptions::checkpoint_every

  bool any() const {
    return epochs > 0 || warmup_epochs > 0 || validate_epochs > 0 || checkpoint_epochs > 0;
  }
};

// What the schedule does not follow from other options.
struct ScheduleOverrides {
  bool decay = false, warmup = false;
};

struct TrainingPlan {
  TrainingSettings settings;
  TrainerOptions trainer;
  EpochOptions epochs{};  // run.json has the steps that follow
  ScheduleOverrides chosen{};
};

inline constexpr const char* kTrainingKinds[] = {"lm",   "mlm",     "translate", "dates",
                                                 "copy", "reverse", "sort"};
std::string training_kinds();  // "lm, mlm, ... or sort"
bool is_training_kind(std::string_view kind) noexcept;

// The recipe of a task: sensible for two cores. Throws Error for another kind.
TrainingPlan default_plan(const std::string& kind);

// Fills in what follows from the rest: the size of a vocabulary of sub-words, the model's length
// and seed, the table that its scheme starts from, and the schedule, which depends on whether the
// number of steps is known; its decay and its warm-up are kept if they were chosen. Throws Error
// for a cosine without an end.
void fill_defaults(TrainingPlan& plan, const ScheduleOverrides& chosen = {});

// Makes the periods in epochs steps: at least one step each, whole ones. What is given in both
// units is the number of epochs, but of the ends the first. For a run that goes on, only the end.
// Throws Error for options out of range. Part of make_task().
void count_epochs(TrainingPlan& plan, std::int64_t steps_per_epoch, bool resumed);

// A path as run.json keeps it. Throws Error for one that cannot be made absolute.
DataFile data_file(const std::string& path);

// The settings and the limits as the JSON text that run.json keeps.
std::string format_settings(const TrainingPlan& plan);
// The plan of a run that was begun in `folder`. Data that is gone is looked for where it was as
// seen from the run's folder. Throws Error for a run that has none.
TrainingPlan read_plan(const std::string& folder);

}  // namespace sextant
