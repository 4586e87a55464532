// A sentence or two about a chart, computed from its data: what it is of, its sizes and its range,
// and what stands out. Screen readers say it.
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

// The ids of a picture's title and description begin with a number made from what it shows. The
// picture with another one where `page` already has it.
std::string with_own_ids(std::string_view svg, std::string_view page);

}  // namespace sextant::pictures
