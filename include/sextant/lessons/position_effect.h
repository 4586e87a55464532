// Says how positions affect a sentence, and so why its order may not show.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/core/tensor.h"
#include "sextant/layers/applied_positions.h"

namespace sextant {

enum class PositionEffect {
  none,   // no positions
  alike,  // all positions of the sentence are treated alike
  mask,   // biases that hide pairs or leave their scores unchanged
  order,  // anything else
};
// Returns the largest effect of several schemes. For biases by query and key, head 0 decides.
PositionEffect position_effect(const AppliedPositions<double>& positions, std::int64_t length);

// Returns one clause that explains why two orders of the same words give the same output with these
// positions; empty for PositionEffect::none and if no reason is known. `weights` [heads, queries,
// keys] are those of either sentence: if one word has all but 1e-9 of the last token's weight, the
// others hardly show.
std::string why_same(PositionEffect effect, View<const double> weights);

}  // namespace sextant
