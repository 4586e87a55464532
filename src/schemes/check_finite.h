// The check that weights of schemes are finite.
#pragma once

#include <string_view>

#include "sextant/core/tensor.h"

namespace sextant::schemes_detail {

// Throws Error("scheme.name") unless every number is finite.
void check_finite(std::string_view scheme, std::string_view name, View<const double> values);

}  // namespace sextant::schemes_detail
