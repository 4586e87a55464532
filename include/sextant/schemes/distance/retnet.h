// Makes RetNet's decay as a bias: scores fall in proportion to the distance, slowly in late heads
// (Sun et al. 2023, 2307.08621, section 2.1 and equation 8).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sextant/tables/distance_bias.h"

namespace sextant {

// The decay of head h is gamma_h = 1 - 2^-(exponent + heads_range h / heads).
struct Retnet {
  std::int64_t heads = 1;  // 1 .. 2^20
  double exponent = 5;     // of head 0, 1 .. 1000
  std::optional<double> heads_range =
      std::nullopt;    // 0 .. 1000; unset: heads, so 1 more for each head
  bool causal = true;  // hides keys after the query; no: |distance| counts
};

// Returns gamma_h of every head, in (0, 1]: 1 where 2^-(exponent + ...) is below the precision of
// float64. Throws Error if an option is out of its range.
std::vector<double> retnet_decays(const Retnet& options);

// Returns values[head, key - query + length - 1] = |key - query| ln(gamma_head), [heads, 2 length -
// 1], so that softmax's weights are multiplied by gamma^distance as RetNet's scores are. It is
// computed in float64 from the logarithm itself, ln(1 - x), and rounded once. Throws Error if an
// option is out of its range, and unless length is in 1 .. 2^28 with at most 2^31 numbers in the
// bias.
DistanceBias retnet(const Retnet& options, std::int64_t length);

}  // namespace sextant
