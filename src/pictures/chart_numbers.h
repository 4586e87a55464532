// What charts draw, as numbers with names.
#pragma once

#include "pictures/png/pixels.h"
#include "sextant/pictures/chart_numbers.h"
#include "sextant/pictures/charts.h"
#include "sextant/pictures/dot_plot.h"

namespace sextant::pictures {

// `values` [panels, rows, columns], copied; `scale` is the one that they are drawn with.
PictureNumbers numbers_of(const HeatmapPanels& panels, View<const double> values,
                          const Scale& scale);
PictureNumbers numbers_of(const AttentionMaps& maps, View<const double> weights,
                          const Scale& scale);
PictureNumbers numbers_of(const AttentionLines& lines, View<const double> weights);
PictureNumbers numbers_of(const LinePanels& chart);
PictureNumbers numbers_of(const DotPlot& plot);  // a chart per group

}  // namespace sextant::pictures
