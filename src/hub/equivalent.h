// Models that compute the same with other weights, in forms that the hub has.
#pragma once

#include <vector>

#include "sextant/models/language_model.h"

namespace sextant::hub {

// Returns the config itself; then with an embedding that is not multiplied, whose logits have a
// separate matrix if they were products with it; then with a table of learned positions instead of
// sinusoidal ones, or of none. All have explicit sizes in place of 0.
std::vector<TransformerConfig> equivalents(const TransformerConfig& config);
// The model that such a config is of.
LanguageModel<float> equivalent(const LanguageModel<float>& model, const TransformerConfig& config);

}  // namespace sextant::hub
