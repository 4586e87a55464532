// Describes a training: the settings in run.json, from which a task is made.
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

// A training file, and its contents when the run began.
struct DataFile {
  std::string path;  // absolute
  std::string checksum = {};
};

// Moves the same data to other places: the checksums stay, for make_task() to compare. Throws
// Error(where, ...) for another number of files.
void move_data(std::vector<DataFile>& files, const std::vector<std::string>& paths,
               std::string_view where);

struct TrainingSettings {
  std::string kind;             // one of kTrainingKinds
  std::vector<DataFile> files;  // texts, one file of tokens (.safetensors), or one of pairs
  std::vector<DataFile> valid;  // for pairs: one or none
  std::vector<DataFile> from;   // a model's folder to start from: one or none
  std::vector<DataFile> tokenizer_from;  // a folder with the tokenizer to use: one or none
  std::vector<DataFile> table;           // the scheme's --scheme-file to start from: one or none
  bool reverse = false;                  // the second column is the source
  PairAugmentation augment{};            // for pairs
  DocumentUnit documents = DocumentUnit::none;  // for texts
  double held_out = 0.1;                        // share of the data, 0 < held_out < 1
  TokenizerTraining tokenizer{};                // learned from the training part
  TransformerConfig model{};
  TaskOptions task{};  // without the seed, which is the trainer's

  bool is_pairs() const { return kind == "translate" || is_built_in(kind); }
};

// Periods in passes over the data, which become steps as soon as the data is known; 0: the
// trainer's.
struct EpochOptions {
  double epochs = 0;             // in total, as TrainerOptions::steps
  double warmup_epochs = 0;      // as Schedule::warmup
  double validate_epochs = 0;    // as TrainerOptions::validate_every
  double checkpoint_epochs = 0;  // as TrainerOptions::checkpoint_every

  bool any() const {
    return epochs > 0 || warmup_epochs > 0 || validate_epochs > 0 || checkpoint_epochs > 0;
  }
};

// The choices that replace the schedule's defaults.
struct ScheduleOverrides {
  bool decay = false, warmup = false;
};

struct TrainingPlan {
  TrainingSettings settings;
  TrainerOptions trainer;
  EpochOptions epochs{};  // run.json has the resulting steps
  ScheduleOverrides chosen{};
};

inline constexpr const char* kTrainingKinds[] = {"lm",   "mlm",     "translate", "dates",
                                                 "copy", "reverse", "sort"};
std::string training_kinds();  // "lm, mlm, ... or sort"
bool is_training_kind(std::string_view kind) noexcept;

// Returns sensible settings of a task for two cores. Throws Error for another kind.
TrainingPlan default_plan(const std::string& kind);

// Fills in settings that follow from others: the size of a vocabulary of sub-words, the model's
// length and seed, the table that its scheme starts from, and the schedule, which depends on
// whether the number of steps is known; a chosen decay and warm-up are kept. Throws Error for a
// cosine, a linear or a wsd decay without an end.
void fill_defaults(TrainingPlan& plan, const ScheduleOverrides& chosen = {});

// Converts periods in epochs to whole steps, at least one each. If a period is given in both units,
// the epochs are used; of two ends, the first. For a resumed run it converts only the end. Throws
// Error for options out of range. make_task() calls it.
void count_epochs(TrainingPlan& plan, std::int64_t steps_per_epoch, bool resumed);

// Returns a path as run.json stores it. Throws Error for one that cannot be made absolute.
DataFile data_file(const std::string& path);

// Returns the settings and the limits as the JSON text in run.json.
std::string format_settings(const TrainingPlan& plan);
// Returns the plan of a run that was begun in `folder`. Missing data is searched at the same place
// relative to the run's folder. Throws Error for a run that has none.
TrainingPlan read_plan(const std::string& folder);

}  // namespace sextant
