// Makes ALiBi's bias: a score falls by a fixed slope per step of distance (Press et al. 2021,
// 2108.12409, section 3).
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/schemes/distance/alibi_slopes.h"
#include "sextant/tables/distance_bias.h"

namespace sextant {

// The treatment of keys in the future; the paper has only causal models.
enum class BiasDirection {
  symmetric,  // -slope * |distance|; only the mask decides whether the future is visible
  causal,     // the future is hidden, -infinity
};

struct Alibi {
  std::int64_t heads = 1;  // 1 .. 2^20
  BiasDirection direction = BiasDirection::symmetric;
  double max_bias = 8;  // 0 .. 1000
  // Multiplies the slopes, above 0: 1 / sqrt(head_dim) for a bias that is added before the scores
  // are scaled, as in Falcon.
  double factor = 1;
};

// Returns values[head, key - query + length - 1], [heads, 2 length - 1]: -factor * slope *
// |distance| in float64, rounded once, for ids 0 .. length - 1 (or any ids at most length - 1
// apart). Throws Error if an option is out of its range, and unless length is in 1 .. 2^28 with at
// most 2^31 numbers in the table.
DistanceBias alibi(const Alibi& options, std::int64_t length);

// Returns only the slopes, for any distance, one number per head. Also throws Error for
// BiasDirection::causal, which needs a table; a causal call hides the future anyway.
DistanceBias alibi(const Alibi& options);

std::string_view name_of(BiasDirection direction) noexcept;

}  // namespace sextant
