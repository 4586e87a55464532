// The table of an extrapolation for a person.
#pragma once

#include <string>

#include "sextant/experiments/extrapolation.h"

namespace sextant::app {

// Rows are schemes, columns are lengths, once per way of scoring; unit: "character". Numbers are
// means over the seeds with their deviation, with the number of seeds if it is not all; "-"
// replaces a missing number, with the reasons below.
std::string report_text(const ExtrapolationTable& table, const std::string& unit);

}  // namespace sextant::app
