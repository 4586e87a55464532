// The lists of what tasks are asked for: keys of run.json's settings, options of `sextant train`.
#pragma once

#include "sextant/training/tasks/language_task.h"
#include "sextant/training/tasks/training_plan.h"
#include "sextant/training/tasks/translation_task.h"
#include "training/training_fields.h"

namespace sextant {

inline constexpr IntegerRange kBatches{1, 1 << 20};

template <>
inline constexpr auto kFields<PairAugmentation> = std::tuple{
    field(&PairAugmentation::turn, "turn", "both directions"),
    field(&PairAugmentation::shuffle, "shuffle",
          "each target with its own words in a disturbed order"),
    field(&PairAugmentation::replace, "replace", "words that both sides share are replaced"),
    field(&PairAugmentation::join, "join", "each pair with the next")};

template <>
inline constexpr auto kFields<TrainingSettings> = std::tuple{
    field(&TrainingSettings::reverse, "reverse", "translate from the second column to the first"),
    field(&TrainingSettings::held_out, "held_out", kPortion,
          "fraction of the data that is held out for validation: the end of each text, random "
          "pairs"),
    field(&TrainingSettings::length, "length", kBatches,
          "tokens per sequence; longer sides of pairs are cut"),
    field(&TrainingSettings::batch, "batch", kBatches, "sequences or pairs per step"),
    field(&TrainingSettings::parts, "parts", kBatches,
          "batches per step: less memory, the same sums"),
    field(&TrainingSettings::masked, "masked", kPortion, "fraction of the tokens to predict"),
    field(&TrainingSettings::smoothing, "smoothing", kShare, "of labels"),
    field(&TrainingSettings::subword_dropout, "subword_dropout", kShare,
          "fraction of the sub-words that are split into smaller ones, different in each epoch")};

template <>
inline constexpr auto kFields<LanguageData> =
    std::tuple{field(&LanguageData::length, "length", at_least(1), "tokens of a sequence"),
               field(&LanguageData::sequences, "sequences", at_least(1), "of a step"),
               field(&LanguageData::parts, "parts", at_least(1), "batches per step"),
               field(&LanguageData::smoothing, "smoothing", kShare, "of labels"),
               field(&LanguageData::hidden, "hidden", NumberRange{0, 1, true},
                     "of masked models: fraction of the tokens to predict"),
               field(&LanguageData::seed, "seed", kSeeds, "of the order")};

template <>
inline constexpr auto kFields<TranslationData> = std::tuple{
    field(&TranslationData::pairs, "pairs", at_least(1), "of a step"),
    field(&TranslationData::parts, "parts", at_least(1), "batches per step"),
    field(&TranslationData::longest, "longest", at_least(1), "tokens; longer sides are cut"),
    field(&TranslationData::smoothing, "smoothing", kShare, "of labels"),
    field(&TranslationData::subword_dropout, "subword_dropout", kShare,
          "fraction of the sub-words that are split"),
    field(&TranslationData::seed, "seed", kSeeds, "of the order")};

}  // namespace sextant
