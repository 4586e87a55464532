// Makes the mask of StreamingLLM: the first tokens and a window of the last ones, causal (Xiao et
// al. 2023, 2309.17453, section 3.2).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sextant/tables/score_term.h"

namespace sextant {

struct SinkWindow {
  std::int64_t first_keys = 4;  // smaller ids are visible to all later queries; >= 0
  std::int64_t window = 1020;   // visible keys up to the query's own, which counts; >= 1
};

// Returns 0 if key id <= query id and (key id < first_keys or query id - key id < window), else
// -infinity. Token n of the sequence has the id positions[n]: key n, and query n - offset. Position
// ids of the call of attention() replace the list. Calls with more tokens are refused. Throws Error
// unless options are in their ranges and ids are within +-2^53.
std::shared_ptr<const ScoreTerm> sink_window(const SinkWindow& options,
                                             std::span<const std::int64_t> positions);

}  // namespace sextant
