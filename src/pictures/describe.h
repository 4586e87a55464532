// Writes a sentence or two about a chart from its data: its subject, its sizes and its range, and
// extremes. Screen readers read it.
#pragma once

#include <string>

#include "pictures/png/pixels.h"
#include "sextant/pictures/charts.h"

namespace sextant::pictures {

// `weights` [heads, queries, keys].
std::string describe(const AttentionMaps& maps, View<const double> weights);
// `drawn` of `all` lines that reach the threshold.
std::string describe(const AttentionLines& lines, View<const double> weights, std::size_t drawn,
                     std::size_t all);
// `values` [panels, rows, columns].
std::string describe(const HeatmapPanels& panels, View<const double> values);
std::string describe(const LinePanels& chart);

// The ids of a picture's title and description begin with a number computed from its contents.
// Returns the picture with another number if `page` already has it.
std::string with_own_ids(std::string_view svg, std::string_view page);

}  // namespace sextant::pictures
