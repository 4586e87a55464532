// The lists of the options of training: keys of run.json, options of `sextant train`.
#pragma once

#include "core/options/fields.h"
#include "sextant/training/trainer.h"

namespace sextant {

inline constexpr NumberRange kShare{0, 1, false, true};   // may be 0
inline constexpr NumberRange kPortion{0, 1, true, true};  // some, not all

template <>
inline constexpr auto kMeanings<Decay> = meanings("the peak rate",
                                                  "the peak rate * sqrt(warmup / step)",
                                                  "half a cosine from the peak rate to the floor",
                                                  "a line from the peak rate to the floor",
                                                  "the peak rate, then a line to the floor");

template <>
inline constexpr auto kFields<Schedule> = std::tuple{
    field(&Schedule::decay, "decay", "learning rate after the warm-up"),
    field(&Schedule::peak, "peak", kAboveZero, "peak learning rate"),
    field(&Schedule::warmup, "warmup", at_least(0), "steps of linear warm-up"),
    field(&Schedule::steps, "steps", at_least(0), "cosine, linear, wsd: last step"),
    field(&Schedule::floor, "floor", kNotNegative, "cosine, linear, wsd: final learning rate"),
    field(&Schedule::decay_share, "decay_share", NumberRange{0, 1, true},
          "wsd: fraction of the steps in which the rate falls, at the end")};

template <>
inline constexpr auto kMeanings<OptimiserMethod> = meanings(
    "for all weights", "orthogonal updates of the matrices of hidden layers, AdamW for the rest");

template <>
inline constexpr auto kFields<OptimiserOptions> = std::tuple{
    field(&OptimiserOptions::method, "method", "update rule"),
    field(&OptimiserOptions::beta1, "beta1", kShare, "decay of the mean gradient"),
    field(&OptimiserOptions::beta2, "beta2", kShare, "decay of the mean squared gradient"),
    // Above 0 in float32, so that 0 / epsilon is 0.
    field(&OptimiserOptions::epsilon, "epsilon", at_least_number(1e-30),
          "added to the root of the mean squared gradient"),
    field(&OptimiserOptions::momentum, "momentum", kShare, "muon: decay of the mean gradient"),
    field(&OptimiserOptions::weight_decay, "weight_decay", kNotNegative,
          "decay of matrices: each step multiplies them by 1 - rate * weight_decay"),
    field(&OptimiserOptions::clip_norm, "clip_norm", kNotNegative,
          "maximum norm of the gradients; 0: no limit")};

// The settings in run.json that results depend on, besides the seed, the optimiser and the
// schedule.
inline constexpr auto kResultFields = std::tuple{
    field(&TrainerOptions::dropout, "dropout", kShare,
          "fraction of the activations that are zeroed"),
    field(&TrainerOptions::attention_dropout, "attention_dropout", kShare,
          "fraction of the attention weights that are zeroed"),
    field(&TrainerOptions::word_dropout, "word_dropout", kShare,
          "fraction of the words whose vectors are zeroed in a step"),
    field(&TrainerOptions::ema_decay, "ema_decay", kShare,
          "decay of a moving average of the weights, which validation and checkpoints use; 0: "
          "no average")};

// Kept by `sextant train`; a resumed run may have others.
inline constexpr auto kLimitFields = std::tuple{
    field(&TrainerOptions::steps, "steps", at_least(0), "number of steps; 0: no limit"),
    field(&TrainerOptions::minutes, "minutes", kNotNegative,
          "minutes of wall time, resumed runs included; 0: no limit. With steps: whichever ends "
          "first"),
    field(&TrainerOptions::patience, "patience", at_least(0),
          "stop after N validations without a new best loss; 0: no limit"),
    field(&TrainerOptions::validate_every, "validate_every", at_least(0),
          "steps between validations; 0: only at the end"),
    field(
        &TrainerOptions::checkpoint_every, "checkpoint_every", at_least(0),
        "steps between checkpoints; 0: every five minutes, at each new best loss and at the end")};

template <>
inline constexpr auto kFields<TrainerOptions> = std::tuple_cat(
    kLimitFields, kResultFields,
    std::tuple{
        field(&TrainerOptions::seed, "seed", kSeeds, "seed of weights, data order and dropout"),
        field(&TrainerOptions::threads, "threads", kThreads,
              "number of threads; 0: all cores; results have the same bits for any number"),
        field(&TrainerOptions::checkpoint_minutes, "checkpoint_minutes", kNotNegative,
              "minutes between checkpoints; 0: not by time")});

}  // namespace sextant
