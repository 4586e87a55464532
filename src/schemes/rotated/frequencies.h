// Geometric sequences of frequencies, with many more exact bits than any output.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/numbers/wide_float.h"

namespace sextant {

// base^(-(start + k * step) / denominator) for k = 0 .. count - 1, in radians per position;
// relative error below 2^-280 * (k + 2). base > 0; throws Error naming `where` when a frequency is
// above 2^64.
std::vector<WideFloat> geometric_frequencies(double base, std::int64_t start, std::int64_t step,
                                             std::int64_t denominator, std::int64_t count,
                                             std::string_view where);
// The same for a base given by its logarithm, unchecked.
std::vector<WideFloat> geometric_frequencies(const WideFloat& log_base, std::int64_t start,
                                             std::int64_t step, std::int64_t denominator,
                                             std::int64_t count);

// Returns float(base)^float(numerator / denominator), each step rounded to float32, for numerators
// 0, 2, ... 2 (count - 1): frameworks take the reciprocals of these.
std::vector<float> framework_powers(double base, std::int64_t denominator, std::int64_t count);

}  // namespace sextant
