// What positions do to a sentence, and so why its order may not show.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/core/tensor.h"
#include "sextant/layers/applied_positions.h"

namespace sextant {

enum class PositionEffect {
  none,   // no positions
  alike,  // every position of the sentence is treated alike
  mask,   // biases that hide pairs or leave their scores as they are
  order,  // anything else
};
// Of several schemes, the one that does most. Of biases by query and key, head 0 tells.
PositionEffect position_effect(const AppliedPositions<double>& positions, std::int64_t length);

// In one clause, why two orders of the same words give the same output for all that there are
// positions; empty for PositionEffect::none and where nothing is known. `weights` [heads, queries,
// keys] are those of either sentence: where one word has all but 1e-9 of the last token's, the
// others hardly show.
std::string why_same(PositionEffect effect, View<const double> weights);

}  // namespace sextant
