// The options of a training from the lists of fields: for `sextant train` and for Python.
#pragma once

#include <vector>

#include "core/options/field_words.h"
#include "models/transformer_fields.h"
#include "text/tokenizer_fields.h"
#include "training/tasks/task_fields.h"

namespace sextant {

inline constexpr const char* kModel = "The model";
inline constexpr const char* kData = "The data";
inline constexpr const char* kSteps = "The steps";
inline constexpr const char* kPairTasks = "translate dates copy reverse sort";
inline constexpr const char* kTextTasks = "lm mlm";

// Names that differ from the lists of fields, and defaults that follow from other options. All
// other rows of the lists are options unchanged.
inline const std::vector<Wording> kModelWords = {
    {.field = "kind", .hidden = true},
    {.field = "vocabulary", .hidden = true},
    {.field = "length", .hidden = true},
    {.field = "schemes", .hidden = true},
    {.field = "layer_schemes", .hidden = true, .tasks = kTextTasks},
    {.field = "decoder_schemes", .hidden = true},
    {.field = "target_start", .hidden = true},
    {.field = "target_end", .hidden = true},
    {.field = "token_types", .hidden = true},
    {.field = "seed", .hidden = true},
    {.field = "pre_norm",
     .option = "--post-norm",
     .meaning = "norms after each block, without a final norm, as in Vaswani et al. 2017"},
    {.field = "final_norm", .hidden = true},
    {.field = "logits", .hidden = true},
    {.field = "first_norm",
     .option = "--no-first-norm",
     .meaning = "no norm before the first attention, as in ModernBERT",
     .tasks = kTextTasks},
    {.field = "bias", .option = "--no-bias", .meaning = "linear layers without bias"},
    {.field = "tied",
     .option = "--untied",
     .meaning = "a separate matrix for the logits instead of the embedding"},
    {.field = "encoder_layers", .tasks = kPairTasks},
    {.field = "parallel_blocks", .tasks = kTextTasks},
    {.field = "logits_transform", .tasks = kTextTasks},
    {.field = "pointer", .tasks = kPairTasks}};
inline const std::vector<Wording> kSettingsWords = {{.field = "reverse", .tasks = "translate"},
                                                    {.field = "documents", .tasks = kTextTasks}};
inline const std::vector<Wording> kTaskWords = {{.field = "batch_size", .group = kSteps},
                                                {.field = "accumulation_steps", .group = kSteps},
                                                {.field = "document_mask", .tasks = kTextTasks},
                                                {.field = "label_smoothing", .group = kSteps},
                                                {.field = "mask_probability", .tasks = "mlm"},
                                                {.field = "subword_dropout", .tasks = "translate"},
                                                {.field = "seed", .hidden = true}};
inline const std::vector<Wording> kTokenizerWords = {
    {.field = "kind", .option = "--tokenizer"},
    {.field = "split_punctuation",
     .option = "--no-split-punctuation",
     .meaning = "split words at white space only"},
    {.field = "minimum_count", .option = "--min-count"},
    {.field = "vocabulary_size",
     .option = "--vocabulary",
     .default_text = "0; 4000 sub-words, translate 12000"}};
inline const std::vector<Wording> kTrainerWords = {{.field = "checkpoint_minutes", .hidden = true}};
inline const std::vector<Wording> kEpochWords = {};
inline const std::vector<Wording> kScheduleWords = {
    {.field = "peak", .option = "--rate"},
    {.field = "steps", .hidden = true},
    {.field = "floor", .hidden = true},
    {.field = "warmup", .default_text = "100, translate 400; at most a tenth of the steps"},
    {.field = "decay",
     .default_text = "cosine to 1/20 with --steps or --epochs, else inverse_square_root"}};
inline const std::vector<Wording> kOptimiserWords = {
    {.field = "method", .option = "--optimizer"}, {.field = "beta1", .hidden = true},
    {.field = "beta2", .hidden = true},           {.field = "epsilon", .hidden = true},
    {.field = "momentum", .hidden = true},        {.field = "clip_norm", .option = "--clip"}};

// A part of a plan whose fields are options.
template <class Options>
struct PlanPart {
  const char* member;  // of a plan, "trainer.schedule"
  const char* group;
  const std::vector<Wording>& words;
  Options& (*of)(TrainingPlan&);
};

// use(part) for each, in the order of help.
template <class Use>
void each_part(const Use& use) {
  using Plan = TrainingPlan;
  use(PlanPart<TrainingSettings>{"settings", kData, kSettingsWords,
                                 [](Plan& plan) -> TrainingSettings& { return plan.settings; }});
  use(PlanPart<TaskOptions>{"settings.task", kData, kTaskWords,
                            [](Plan& plan) -> TaskOptions& { return plan.settings.task; }});
  use(PlanPart<TokenizerTraining>{
      "settings.tokenizer", kData, kTokenizerWords,
      [](Plan& plan) -> TokenizerTraining& { return plan.settings.tokenizer; }});
  use(PlanPart<TransformerConfig>{
      "settings.model", kModel, kModelWords,
      [](Plan& plan) -> TransformerConfig& { return plan.settings.model; }});
  use(PlanPart<TrainerOptions>{"trainer", kSteps, kTrainerWords,
                               [](Plan& plan) -> TrainerOptions& { return plan.trainer; }});
  use(PlanPart<EpochOptions>{"epochs", kSteps, kEpochWords,
                             [](Plan& plan) -> EpochOptions& { return plan.epochs; }});
  use(PlanPart<Schedule>{"trainer.schedule", kSteps, kScheduleWords,
                         [](Plan& plan) -> Schedule& { return plan.trainer.schedule; }});
  use(PlanPart<OptimiserOptions>{
      "trainer.optimiser", kSteps, kOptimiserWords,
      [](Plan& plan) -> OptimiserOptions& { return plan.trainer.optimiser; }});
}

}  // namespace sextant
