// Every chart of the smallest and the largest numbers of float64: it is drawn or refused, its
// numbers are numbers, and it comes to an end (a hang is the time limit of the test).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "pictures/layout.h"
#include "pictures/png/pixels.h"
#include "pictures/samples.h"
#include "pictures/svg_reader.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/pictures/charts.h"

namespace sextant {
namespace {

constexpr double kLeast = std::numeric_limits<double>::denorm_min();
constexpr double kMost = std::numeric_limits<double>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The corners of a 4 x 4 table, the rest is the first of them.
std::vector<std::vector<double>> corners() {
  const double two = 4 * kLeast;  // 2e-323, the largest magnitude that hung
  return {{0, 0, 0, 0},
          {kLeast, kLeast, kLeast, kLeast},
          {-kLeast, kLeast, 0, two},
          {-two, 0, 0, 0},
          {two, 0, kLeast, 0},
          {1e-300, -1e-300, 0, 0},
          {1e-308, 2e-308, 1e-308, 1e-308},
          {kMost, kMost, kMost, kMost},
          {-kMost, kMost, 0, 1},
          {kMost, kLeast, -kMost, -kLeast},
          {1e300, -1e300, kLeast, 0},
          {1e300, 1e300, 1e300, 1e300},
          {-1e300, -1e300, -1e300, -1e300},
          {kLeast, 1, 0, -1},
          {1, 1 + 0x1p-52, 1, 1},
          {kInfinity, -kInfinity, NAN, kLeast},
          {kInfinity, kMost, 0, -kMost}};
}

Tensor<double> table_of(const std::vector<double>& corner) {
  Tensor<double> table({4, 4});
  for (double& value : table.span()) value = corner[0];
  table(0, 3) = corner[1];
  table(3, 0) = corner[2];
  table(3, 3) = corner[3];
  return table;
}

// No attribute is "nan", "inf" or a number too large for an SVG viewer, except tooltips and labels,
// which are text.
void expect_numbers(const testing::Element& element) {
  for (const auto& [name, value] : element.attributes) {
    if (name == "href" || name == "aria-labelledby") continue;
    EXPECT_EQ(value.find("nan"), std::string::npos) << name << "=" << value;
    EXPECT_EQ(value.find("inf"), std::string::npos) << name << "=" << value;
    EXPECT_LT(value.size(), 4000u) << name;
  }
  for (const auto& child : element.children) expect_numbers(child);
}

using Draw = std::function<Picture(const Tensor<double>&)>;

void draw_all(const char* what, const Draw& draw) {
  for (const auto& corner : corners()) {
    SCOPED_TRACE(std::string(what) + " of " + shortest(corner[0]) + " " + shortest(corner[1]) +
                 " " + shortest(corner[2]) + " " + shortest(corner[3]));
    try {
      const Picture picture = draw(table_of(corner));
      EXPECT_TRUE(std::isfinite(picture.width) && std::isfinite(picture.height));
      expect_numbers(testing::read_xml(picture.svg));
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).front(), '[');
    }
  }
}

TEST(ExtremeValues, Heatmaps) {
  for (const ColorMap map : {ColorMap::viridis, ColorMap::diverging}) {
    draw_all("heatmap", [map](const Tensor<double>& table) {
      HeatmapPanels heatmap;
      heatmap.values = table;
      heatmap.map = map;
      return draw(heatmap);
    });
    draw_all("panels", [map](const Tensor<double>& table) {
      HeatmapPanels panels{
          .values = View<const double>(table.data(), {1, 4, 4}), .titles = {"one"}, .map = map};
      return draw(panels);
    });
  }
}

TEST(ExtremeValues, BlocksOfALongTableHaveFiniteMeans) {
  Tensor<double> table({4000, 1});
  for (std::int64_t i = 0; i < 4000; ++i) table(i, 0) = i % 2 == 0 ? kMost : -kMost;
  const pictures::Blocks blocks = pictures::average(table, 40, 1);
  for (const double mean : blocks.means.span()) EXPECT_TRUE(std::isfinite(mean)) << mean;
}

TEST(ExtremeValues, EndsOfAColourScale) {
  const Tensor<double> table = testing::sinusoids(4, 4);
  for (const double end : {kMost, -kMost, kInfinity, static_cast<double>(NAN)}) {
    HeatmapPanels heatmap;
    heatmap.values = table;
    heatmap.high = end;
    EXPECT_THROW(draw(heatmap), Error) << end;
    heatmap.high.reset();
    heatmap.low = end;
    EXPECT_THROW(draw(heatmap), Error) << end;
  }
  HeatmapPanels heatmap{.values = table, .low = 0, .high = kLeast};
  EXPECT_NO_THROW(draw(heatmap));
}

TEST(ExtremeValues, AttentionMapsAndLines) {
  const auto words = testing::words(4);
  draw_all("map", [&](const Tensor<double>& table) {
    AttentionMaps map;
    map.weights = table;
    map.queries = map.keys = words;
    return draw(map);
  });
  draw_all("maps", [&](const Tensor<double>& table) {
    AttentionMaps maps;
    maps.weights = View<const double>(table.data(), {4, 1, 4});
    maps.queries = testing::words(1);
    maps.keys = words;
    return draw(maps);
  });
  draw_all("lines", [&](const Tensor<double>& table) {
    AttentionLines lines;
    lines.weights = View<const double>(table.data(), {1, 4, 4});
    lines.queries = lines.keys = words;
    lines.threshold = 0;
    return draw(lines);
  });
}

TEST(ExtremeValues, RowsAndColumns) {
  draw_all("columns", [](const Tensor<double>& table) {
    return draw(testing::panels_of(table, 1, {0, 3}, testing::words(2)));
  });
  draw_all("rows", [](const Tensor<double>& table) {
    LinePanels chart = testing::panels_of(table, 0, {0, 3});
    chart.points = true;
    return draw(chart);
  });
}

TEST(ExtremeValues, Lines) {
  for (const bool points : {false, true}) {
    for (const bool log_x : {false, true}) {
      for (const bool log_y : {false, true}) {
        draw_all("lines", [=](const Tensor<double>& table) {
          Series series{.name = "a", .x = {}, .y = {}};
          for (std::int64_t i = 0; i < 4; ++i) {
            series.x.push_back(table(i, 0));
            series.y.push_back(table(i, 3));
          }
          LinePanels chart = testing::chart_of({series});
          chart.points = points;
          chart.log_x = log_x;
          chart.log_y = log_y;
          return draw(chart);
        });
      }
    }
  }
}

TEST(ExtremeValues, LogarithmicAxesSayWhatTheyMark) {
  LinePanels chart = testing::chart_of({{.name = "", .x = {0, 1, 2}, .y = {kLeast, 1, 1e300}}});
  chart.log_y = true;
  bool small = false;
  for (const auto& text : testing::all(testing::read_xml(draw(chart).svg), "text")) {
    EXPECT_NE(text.text, "inf");
    small = small || text.text.find("e-3") != std::string::npos;
  }
  EXPECT_TRUE(small) << "no number at the lower end";
}

TEST(ExtremeValues, Terminals) {
  for (const ColorMap map : {ColorMap::viridis, ColorMap::diverging}) {
    for (const auto& corner : corners()) {
      const Tensor<double> table = table_of(corner);
      TerminalMap terminal{.values = table, .map = map, .color = false};
      const std::string drawn = draw_terminal(terminal);
      const bool has_gaps = drawn.find("not finite") != std::string::npos;
      EXPECT_EQ(std::count(drawn.begin(), drawn.end(), '\n'), has_gaps ? 6 : 5);
      if (std::isfinite(corner[0]) && std::isfinite(corner[1])) {
        EXPECT_EQ(drawn.find('?'), std::string::npos) << drawn;
      }
    }
  }
}

TEST(ExtremeValues, TicksComeToAnEndAndStayInside) {
  const std::vector<double> ends = {0,     kLeast, 4 * kLeast, 1e-308, 1e-300, 1e-290,
                                    1e-30, 1,      1e30,       1e300,  kMost};
  for (const double a : ends) {
    for (const double b : ends) {
      for (const auto& [low, high] : {std::pair(a, b), std::pair(-a, b), std::pair(-a, -b)}) {
        if (!(low <= high) || !std::isfinite(high - low)) continue;
        for (const bool whole : {false, true}) {
          for (const int most : {-1, 1, 2, 6, 1000}) {
            const pictures::Ticks ticks = pictures::round_ticks(low, high, most, whole);
            EXPECT_EQ(ticks.at.size(), ticks.labels.size());
            for (const double at : ticks.at) {
              EXPECT_GE(at, low - (high - low) * 1e-8);
              EXPECT_LE(at, high + (high - low) * 1e-8);
            }
          }
          if (low < high) {
            EXPECT_LE(pictures::fitting_ticks(low, high, 300, true, whole).at.size(), 64u);
          }
        }
        if (std::max(a, b) > pictures::kLargest) continue;  // no chart takes it
        const pictures::Range range = pictures::range_of(low, high, 0.05);
        EXPECT_LT(range.low, range.high) << low << " .. " << high;
      }
    }
  }
}

}  // namespace
}  // namespace sextant
