// What panels of lines must be.
#pragma once

#include "sextant/pictures/charts.h"

namespace sextant::pictures {

inline constexpr double kWidestPanel = 2400;  // beyond it not every labelled point has a number

// Throws Error("line_panels.<member>") for a chart that cannot be drawn.
void check(const LinePanels& chart);

}  // namespace sextant::pictures
