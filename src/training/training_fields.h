// The lists of the options of training: keys of run.json, options of `sextant train`.
#pragma once

#include "core/options/fields.h"
#include "sextant/training/trainer.h"

namespace sextant {

inline constexpr NumberRange kShare{0, 1, false, true};   // may be 0
inline constexpr NumberRange kPortion{0, 1, true, true};  // some, not all

template <>
inline constexpr auto kMeanings<Decay> =
    meanings("the highest rate", "it times sqrt(warmup / step)", "half a cosine down to the floor",
             "a line down to the floor", "the highest rate, then a line down to the floor");

template <>
inline constexpr auto kFields<Schedule> = std::tuple{
    field(&Schedule::decay, "decay", "the rate after the warm-up"),
    field(&Schedule::peak, "peak", kAboveZero, "highest learning rate"),
    field(&Schedule::warmup, "warmup", at_least(0), "steps of linear warm-up"),
    field(&Schedule::steps, "steps", at_least(0), "of cosine, linear and wsd: where they end"),
    field(&Schedule::floor, "floor", kNotNegative,
          "of cosine, linear and wsd: the rate at the end"),
    field(&Schedule::decay_share, "decay_share", NumberRange{0, 1, true},
          "of wsd: fraction of the steps, the last ones, in which the rate falls")};

template <>
inline constexpr auto kMeanings<OptimiserMethod> = meanings(
    "for all weights", "orthogonal updates of the matrices of hidden layers, AdamW for the rest");

template <>
inline constexpr auto kFields<OptimiserOptions> = std::tuple{
    field(&OptimiserOptions::method, "method", "the update rule"),
    field(&OptimiserOptions::beta1, "beta1", kShare, "how much of the mean gradient is kept"),
    field(&OptimiserOptions::beta2, "beta2", kShare,
          "how much of the mean squared gradient is kept"),
    // Above 0 in float32, so that 0 / epsilon is 0.
    field(&OptimiserOptions::epsilon, "epsilon", at_least_number(1e-30),
          "added to the root of the mean squared gradient"),
    field(&OptimiserOptions::momentum, "momentum", kShare,
          "of muon: how much of the mean gradient is kept"),
    field(&OptimiserOptions::weight_decay, "weight_decay", kNotNegative,
          "of matrices: each step multiplies them by 1 - rate * weight_decay"),
    field(&OptimiserOptions::clip_norm, "clip_norm", kNotNegative,
          "largest norm of the gradients; 0: no limit")};

// The settings in run.json that results depend on, besides the seed, the optimiser and the
// schedule.
inline constexpr auto kResultFields =
    std::tuple{field(&TrainerOptions::dropout, "dropout", kShare, "fraction of the activations"),
               field(&TrainerOptions::word_dropout, "word_dropout", kShare,
                     "fraction of the words whose vectors are hidden in a step")};

// Kept by `sextant train`; a resumed run may have others.
inline constexpr auto kLimitFields = std::tuple{
    field(&TrainerOptions::steps, "steps", at_least(0), "how many; 0: no limit"),
    field(&TrainerOptions::minutes, "minutes", kNotNegative,
          "wall time across resumed runs; 0: no limit. With steps: whichever ends first"),
    field(&TrainerOptions::patience, "patience", at_least(0),
          "end after this number of validations without a new best loss; 0: no limit"),
    field(&TrainerOptions::validate_every, "validate_every", at_least(0),
          "steps; 0: only at the end"),
    field(&TrainerOptions::checkpoint_every, "checkpoint_every", at_least(0),
          "steps; 0: every five minutes, at the best validations and at the end")};

template <>
inline constexpr auto kFields<TrainerOptions> = std::tuple_cat(
    kLimitFields, kResultFields,
    std::tuple{field(&TrainerOptions::seed, "seed", kSeeds, "of weights, order and dropout"),
               field(&TrainerOptions::threads, "threads", kThreads,
                     "0: all cores; results have the same bits for any number"),
               field(&TrainerOptions::checkpoint_minutes, "checkpoint_minutes", kNotNegative,
                     "between checkpoints; 0: not by the clock")});

}  // namespace sextant
