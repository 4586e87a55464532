// Numbers for the page's script, as short text.
#pragma once

#include <string>
#include <string_view>

#include "core/json/json.h"
#include "sextant/core/tensor.h"
#include "sextant/pictures/color.h"

namespace sextant::figures {

// Numbers in [0, 1] of any rank in their order, two characters of base64 each: value * 4095,
// rounded, high six bits first.
std::string packed_weights(View<const double> weights);

// 33 colours from one end of a scale to the other, "rrggbb" each.
std::string colors_of(ColorMap map);

// <script type="application/json">, which no text inside can end.
std::string script_data(std::string_view id, const Json& data);

}  // namespace sextant::figures
