// Curves over distances, as the numbers of a figure.
#pragma once

#include <vector>

#include "sextant/figures/figure.h"

namespace sextant::figures {

// Without picture and title; values are [distances, 1 + curves], the distance first. All curves
// have the x of the first.
Figure curve_figure(const std::vector<Series>& curves);

}  // namespace sextant::figures
