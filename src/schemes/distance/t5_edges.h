// Where T5's logarithmic buckets begin, decided in whole numbers.
#pragma once

#include <cstdint>

namespace sextant::detail {

// The least whole d >= exact with ln(d / exact) / ln(most / exact) * buckets >= k, for 1 <= k <
// buckets <= 2^12 and 1 <= exact < most <= 2^28.
std::int64_t t5_edge(std::int64_t exact, std::int64_t most, std::int64_t buckets, std::int64_t k);

}  // namespace sextant::detail
