// Lists the options of tasks: keys of run.json's settings, options of `sextant train`.
#pragma once

#include "sextant/training/tasks/text_data.h"
#include "sextant/training/tasks/training_plan.h"
#include "training/training_fields.h"

namespace sextant {

inline constexpr IntegerRange kBatches{1, 1 << 20};

template <>
inline constexpr auto kFields<PairAugmentation> =
    std::tuple{field(&PairAugmentation::swap, "swap", "add each pair in the other direction")
                   .renamed_from("turn"),
               field(&PairAugmentation::shuffle, "shuffle",
                     "add each target, with its own words in slightly changed order as the source"),
               field(&PairAugmentation::replace, "replace",
                     "add pairs with other words in place of those that both sides share"),
               field(&PairAugmentation::join, "join", "add each pair joined with the next")};

template <>
inline constexpr auto kFields<LanguageDataOptions> =
    std::tuple{field(&LanguageDataOptions::held_out, "held_out", kPortion,
                     "fraction of each text, at its end, held out for validation")};

template <>
inline constexpr auto kFields<TranslationDataOptions> =
    std::tuple{field(&TranslationDataOptions::held_out, "held_out", kPortion,
                     "fraction of the pairs held out for validation")};

template <>
inline constexpr auto kMeanings<DocumentUnit> =
    meanings("no <eos> between texts", "each file", "each part between empty lines", "each line",
             "each part between lines with GPT-2's end-of-text token");

template <>
inline constexpr auto kFields<TrainingSettings> = std::tuple{
    field(&TrainingSettings::documents, "documents", "unit of a document, which ends with <eos>"),
    field(&TrainingSettings::reverse, "reverse", "translate from the second column to the first"),
    field(&TrainingSettings::held_out, "held_out", kPortion,
          "fraction of the data held out for validation: the end of each text, the last documents "
          "or random pairs")};

inline constexpr NumberRange kEpochs{0, 1e9};
template <>
inline constexpr auto kFields<EpochOptions> =
    std::tuple{field(&EpochOptions::epochs, "epochs", kEpochs,
                     "passes over the data; 0: no limit. With steps: whichever ends first"),
               field(&EpochOptions::warmup_epochs, "warmup_epochs", kEpochs,
                     "epochs of linear warm-up; 0: use the warm-up in steps"),
               field(&EpochOptions::validate_epochs, "validate_epochs", kEpochs,
                     "epochs between validations; 0: use the number of steps"),
               field(&EpochOptions::checkpoint_epochs, "checkpoint_epochs", kEpochs,
                     "epochs between checkpoints; 0: use the number of steps")};

// The settings in run.json that results depend on, without the seed, which belongs to the run.
inline constexpr auto kTaskFields = std::tuple{
    field(&TaskOptions::length, "length", kBatches,
          "tokens per sequence; longer sides of pairs are truncated"),
    field(&TaskOptions::batch_size, "batch_size", kBatches, "sequences or pairs per step")
        .renamed_from("batch"),
    field(&TaskOptions::accumulation_steps, "accumulation_steps", kBatches,
          "gradient accumulation: micro-batches per step; less memory, the same sums")
        .renamed_from("parts"),
    field(&TaskOptions::mask_probability, "mask_probability", NumberRange{0, 1, true},
          "fraction of the tokens to predict")
        .renamed_from("masked"),
    field(&TaskOptions::document_mask, "document_mask",
          "tokens attend only to tokens of the same document; a sequence may contain several"),
    field(&TaskOptions::label_smoothing, "label_smoothing", kShare,
          "label smoothing of the targets")
        .renamed_from("smoothing"),
    field(&TaskOptions::subword_dropout, "subword_dropout", kShare,
          "fraction of the sub-words split into smaller ones, anew in each epoch")};
template <>
inline constexpr auto kFields<TaskOptions> = std::tuple_cat(
    kTaskFields, std::tuple{field(&TaskOptions::seed, "seed", kSeeds, "seed of the data order")});

}  // namespace sextant
