// Arranges the series of a line chart before they are drawn: none hides another, and many get a
// panel each.
#pragma once

#include <string>
#include <vector>

#include "pictures/layout.h"
#include "sextant/pictures/charts.h"

namespace sextant::pictures {

// Returns the series that differ by half a pixel or more in some panel, the first of equal ones
// with the names of all: "rotary = YaRN". `panels` are drawn, `panel` has the axes.
struct DistinctSeries {
  std::size_t index;
  std::string name;
};
std::vector<DistinctSeries> distinct_series(const std::vector<LinePanel>& panels,
                                            const Panel& panel);
void keep(const std::vector<DistinctSeries>& distinct, std::vector<LinePanel>& panels);

// Makes a panel for each series, with the others in grey if they are few enough to follow.
inline constexpr std::size_t kMostTogether = 5;
LinePanels small_multiples(const LinePanels& chart);

// Names at the ends of lines, from the top: at least a line of text apart and within the panel.
// None where they have no room or a line ends before the others.
struct EndName {
  std::size_t series;
  double line, text;  // end of the line, place of its name
};
std::vector<EndName> end_names(const Panel& panel, const std::vector<Series>& series);

}  // namespace sextant::pictures
