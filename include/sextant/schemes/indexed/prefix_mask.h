// Makes the mask of prefix language models: the first tokens attend to one another in both
// directions, the rest is causal (Raffel et al. 2019, 1910.10683, section 3.2.1).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sextant/tables/score_term.h"

namespace sextant {

struct PrefixMask {
  std::int64_t prefix = 0;  // smaller ids are visible to all; >= 0
};

// Returns 0 if key id < prefix or key id <= query id, else -infinity. Token n of the sequence has
// the id positions[n]: key n, and query n - offset. Position ids of the call of attention() replace
// the list. Calls with more tokens are refused. Throws Error unless prefix >= 0 and ids are within
// +-2^53.
std::shared_ptr<const ScoreTerm> prefix_mask(const PrefixMask& options,
                                             std::span<const std::int64_t> positions);

}  // namespace sextant
