// Models that compute the same with other weights, in forms that the hub has.
#pragma once

#include <vector>

#include "sextant/models/language_model.h"

namespace sextant::hub {

// The config itself, then: with an embedding that is not multiplied, whose logits have a matrix of
// their own where they were products with it; then with a table of learned positions in place of
// sinusoidal ones, or of none. All with the sizes that 0 stands for.
std::vector<TransformerConfig> equivalents(const TransformerConfig& config);
// The model that such a config is of.
LanguageModel<float> equivalent(const LanguageModel<float>& model, const TransformerConfig& config);

}  // namespace sextant::hub
