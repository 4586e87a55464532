// How many steps every scheme gets: asked for, or measured once and kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/experiments/extrapolation_run.h"

namespace sextant {

inline constexpr std::int64_t kSmallVocabulary = 2000;  // of sub-words

// Throws Error(where("test_lengths"), ...) and so on for lengths that do not fit together.
void check_lengths(const ExtrapolationOptions& options,
                   const std::function<std::string(std::string_view)>& where);
// Throws Error for mistakes that do not depend on the text.
void check_options(const ExtrapolationOptions& options);

// The model and the task of one scheme.
TransformerConfig config_of(const ExtrapolationOptions& options, const ExtrapolationScheme& scheme);
TrainerOptions trainer_options(const ExtrapolationOptions& options,
                               const ExtrapolationScheme& scheme, std::int64_t steps);

// A number from all weights of a model.
std::string fingerprint(const TextModel& model);
// A number from all tokens, as hexadecimal digits: whether a text is the same as before.
std::string fingerprint(const std::vector<std::int64_t>& tokens);

// Returns the number of steps: that of plan.json if there is one, which must have the same settings
// and limit; else options.steps, or the number that fits the measured times (needed if it is
// unplanned) for all seeds. Writes plan.json.
struct Measured {
  std::string label;
  double step_seconds = 0, scoring_seconds = 0;
};
std::int64_t plan_steps(const ExtrapolationOptions& options,
                        const std::vector<std::int64_t>& tokens,
                        const std::vector<Measured>& measured, int ranks = 1);
bool is_unplanned(const ExtrapolationOptions& options);

// As many as fit where each scheme in turn, with the first seed and then with the others, goes to
// the rank that is free first: on one, (minutes / seeds - scoring) / (a step of each). Throws Error
// when not even one does.
std::int64_t steps_that_fit(double minutes, const std::vector<Measured>& measured, int ranks = 1,
                            std::int64_t seeds = 1);

}  // namespace sextant
