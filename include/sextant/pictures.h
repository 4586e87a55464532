// Pictures: charts as SVG, PNG, HTML and terminal colour blocks.
#pragma once

#include "sextant/pictures/canvas.h"
#include "sextant/pictures/chart_numbers.h"
#include "sextant/pictures/charts.h"
#include "sextant/pictures/color.h"
#include "sextant/pictures/dot_plot.h"
#include "sextant/pictures/numbers_view.h"
#include "sextant/pictures/page.h"
