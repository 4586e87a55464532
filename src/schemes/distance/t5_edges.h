// Where T5's logarithmic buckets begin, decided in whole numbers.
#pragma once

#include <cstdint>

namespace sextant::schemes_detail {

// The smallest integer d >= exact with ln(d / exact) / ln(max_distance / exact) * buckets >= k, for
// 1 <= k < buckets <= 2^12 and 1 <= exact < max_distance <= 2^28.
std::int64_t t5_edge(std::int64_t exact, std::int64_t max_distance, std::int64_t buckets,
                     std::int64_t k);

}  // namespace sextant::schemes_detail
