// Writes numbers for the page's script as short text.
#pragma once

#include <string>
#include <string_view>

#include "core/json/json.h"
#include "sextant/core/tensor.h"
#include "sextant/pictures/color.h"

namespace sextant::figures {

// Packs numbers in [0, 1], of any rank and in their order, into two characters of base64 each:
// value * 4095, rounded, high six bits first.
std::string packed_weights(View<const double> weights);

// Returns 33 colours from one end of a scale to the other, "rrggbb" each.
std::string colors_of(ColorMap map);

// Returns a <script type="application/json"> element that no text inside can end.
std::string script_data(std::string_view id, const Json& data);

}  // namespace sextant::figures
