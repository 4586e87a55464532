// Compares and exchanges data between the ranks of an extrapolation.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "experiments/extrapolation_plan.h"

namespace sextant {

// Names of options and their values, for TrainingGroup::check_same().
std::vector<std::pair<std::string, std::string>> compared(
    const ExtrapolationOptions& options, const std::vector<std::int64_t>& tokens,
    const std::vector<std::int64_t>& held_out);

std::string format_measured(const Measured& measured);
Measured parse_measured(const std::string& text);

}  // namespace sextant
