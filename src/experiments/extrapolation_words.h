// The options of an extrapolation from the lists of fields: for `sextant extrapolate` and Python.
#pragma once

#include <string>
#include <vector>

#include "core/options/field_words.h"
#include "experiments/extrapolation_fields.h"
#include "experiments/extrapolation_plan.h"
#include "text/tokenizer_fields.h"

namespace sextant {

inline const std::vector<Wording> kExtrapolationWords = {
    {.field = "test_lengths", .group = "Options"}, {.field = "minutes", .group = "Options"},
    {.field = "steps", .group = "Options"},        {.field = "seeds", .group = "Options"},
    {.field = "stride", .group = "Scoring"},       {.field = "scored", .group = "Scoring"},
    {.field = "learning_rate", .option = "--rate"}};
inline const std::vector<Wording> kExtrapolationTaskWords = only<TaskOptions>(
    {{.field = "length",
      .option = "--train-length",
      .meaning = "tokens per training sequence, at least 2",
      .group = "Options"},
     {.field = "batch_size", .meaning = "sequences per step"},
     {.field = "seed",
      .meaning = "seed of weights, data order and dropout; the first of several seeds"}});
inline const std::vector<Wording> kScoredTextWords = {
    {.field = "held_out", .meaning = "fraction of each text, at its end, held out for scoring"}};
inline const std::vector<Wording> kExtrapolationModelWords =
    only<TransformerConfig>({{.field = "width"}, {.field = "heads"}, {.field = "layers"}});
inline const std::vector<Wording> kExtrapolationTokenizerWords = only<TokenizerTraining>(
    {{.field = "kind", .option = "--tokenizer"},
     {.field = "vocabulary_size",
      .option = "--vocabulary",
      .default_text = "0; " + std::to_string(kSmallVocabulary) + " sub-words"}});

}  // namespace sextant
