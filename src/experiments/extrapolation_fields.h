// The list of the options of an extrapolation: options of `sextant extrapolate`.
#pragma once

#include "models/transformer_fields.h"
#include "sextant/experiments/extrapolation_run.h"
#include "training/tasks/task_fields.h"

namespace sextant {

inline constexpr IntegerRange kSeedCount{1, 1000};

template <>
inline constexpr auto kFields<ExtrapolationOptions> = std::tuple{
    field(&ExtrapolationOptions::test_lengths, "test_lengths", ListRange{at_least(2)},
          "test lengths in tokens")
        .unset("")
        .with_condition("ascending"),
    field(&ExtrapolationOptions::minutes, "minutes", kNotNegative,
          "minutes for all schemes and seeds together, including scoring; they determine the "
          "number of steps"),
    field(&ExtrapolationOptions::steps, "steps", at_least(0),
          "steps of each model, instead of minutes"),
    field(&ExtrapolationOptions::seeds, "seeds", kSeedCount,
          "models of each scheme, with consecutive seeds; the table shows their mean and standard "
          "deviation"),
    field(&ExtrapolationOptions::stride, "stride", at_least(1),
          "step of the sliding window, and tokens scored per window; 1: full context for every "
          "token, slow")
        .with_condition("at most the shortest test length"),
    field(&ExtrapolationOptions::scored, "scored", at_least(1),
          "maximum number of scored tokens of the held-out text"),
    field(&ExtrapolationOptions::learning_rate, "learning_rate", kAboveZero,
          "peak learning rate; falls to a tenth by a cosine"),
    field(&ExtrapolationOptions::dropout, "dropout", kShare,
          "fraction of the activations that are zeroed"),
    field(&ExtrapolationOptions::threads, "threads", kThreads,
          "number of threads; 0: all cores; results have the same bits for any number")};

}  // namespace sextant
