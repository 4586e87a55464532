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

struct TrainingPlan {
  TrainingSettings settings;
  TrainerOptions trainer;
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
struct ScheduleOverrides {
  bool decay = false, warmup = false;
};
void fill_defaults(TrainingPlan& plan, const ScheduleOverrides& chosen = {});

// A path as run.json keeps it. Throws Error for one that cannot be made absolute.
DataFile data_file(const std::string& path);

// The settings and the limits as the JSON text that run.json keeps.
std::string format_settings(const TrainingPlan& plan);
// The plan of a run that was begun in `folder`. Throws Error for a run that has none.
TrainingPlan read_plan(const std::string& folder);

}  // namespace sextant
