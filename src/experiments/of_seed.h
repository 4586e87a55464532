// The experiment of one seed among several.
#pragma once

#include <cstdint>

#include "sextant/experiments/extrapolation_run.h"

namespace sextant {

// Returns seed i of options.seeds as a separate experiment: i is added to data.seed, model.seed and
// the parameter `seed` of its schemes, so that all randomness is different. Runs of seed 0 are in
// the folder itself, those of the others in its "seed-N".
ExtrapolationOptions of_seed(const ExtrapolationOptions& options, std::int64_t i);
inline constexpr std::string_view kSeedFolder = "seed-";

// The schemes as they were asked for, with the seeds of `asked`; all as they are if that is empty.
SchemeSpecs without_own_seeds(SchemeSpecs positions, const SchemeSpecs& asked);

// Throws Error("extrapolation.seeds", ...) where the last seed is none.
void check_seeds(const ExtrapolationOptions& options);

}  // namespace sextant
