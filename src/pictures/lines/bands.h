// The band around a line: how far its numbers scatter.
#pragma once

#include <cstddef>

#include "pictures/layout.h"
#include "sextant/pictures/charts.h"

namespace sextant::pictures {

// Where the series has no band, nothing. `index` chooses the colour.
void draw_band(Drawing& drawing, const Panel& panel, const Series& series, std::size_t index);
void draw_band_sample(Drawing& drawing, double x, double y);  // for legends

}  // namespace sextant::pictures
