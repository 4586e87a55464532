// Reads numbers for figures from the tables that schemes make.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/layers/applied_positions.h"

namespace sextant::figures {

// The biases of a head at key - query = first .. last, of the table and the slopes. Throws Error
// naming figure.length for a table that lacks one of them, and figure.heads for such a head.
std::vector<double> biases_by_distance(const DistanceBias& bias, std::int64_t head,
                                       std::int64_t first, std::int64_t last);

// Throws Error naming figure.scheme for a scheme that made none of the tables that have a `what`.
[[noreturn]] void refuse_scheme(std::string_view scheme, const AppliedPositions<double>& made,
                                const std::string& what);

}  // namespace sextant::figures
