// Geometric ladders of frequencies, with many more exact bits than any output.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/wide_float.h"

namespace sextant {

// base^(-(start + k * step) / denominator) for k = 0 .. count - 1, in radians per position;
// relative error below 2^-280 * (k + 2). base > 0; throws Error naming `where` when a frequency is
// above 2^64.
std::vector<WideFloat> geometric_ladder(double base, std::int64_t start, std::int64_t step,
                                        std::int64_t denominator, std::int64_t count,
                                        std::string_view where);
// The same for a base given by its logarithm, unchecked.
std::vector<WideFloat> geometric_ladder(const WideFloat& log_base, std::int64_t start,
                                        std::int64_t step, std::int64_t denominator,
                                        std::int64_t count);

}  // namespace sextant
