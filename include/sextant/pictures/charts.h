// Every picture the project draws, each from plain tables and labels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/pictures/canvas.h"
#include "sextant/pictures/color.h"

namespace sextant {

// Lines over a shared x axis.
struct Series {
  std::string name;
  std::vector<double> x, y;
};
struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Series> series;
  bool points = false;   // draw markers instead of lines
  bool markers = false;  // draw markers on the lines
  // Equal factors are equal distances; every finite number must be positive.
  bool log_x = false, log_y = false;
  std::vector<double> x_ticks;  // where the x axis has numbers; empty: at round ones
};
Picture draw(const LineChart& chart);

// A2: chosen columns of P, one panel each, small multiples with one legend; the words of a sentence
// as labelled points.
struct SinusoidPanels {
  MemberView<const double> table;     // [length, width]
  std::vector<std::int64_t> columns;  // which ones
  std::vector<std::string> words;     // words[k] marks position k; may be empty
  std::vector<std::string>
      titles;  // one per column; empty: "Sine i" / "Cosine i" of an interleaved table
};
Picture draw(const SinusoidPanels& panels);

// A3: the vectors of chosen positions side by side, points over the dimension, shared axes.
struct RowPanels {
  MemberView<const double> table;  // [length, width]
  std::vector<std::int64_t> rows;  // which ones
  std::int64_t first = 0;          // position of row 0, for the titles
};
Picture draw(const RowPanels& panels);

// A4 and cosine-similarity matrices: a matrix as an image with axes and colour bar. Pixels are one
// embedded PNG.
struct Heatmap {
  MemberView<const double> values;  // [rows, columns]
  std::string title, x_label, y_label, color_label;
  std::optional<double> low,
      high;  // of the colour scale; unset: from the values (symmetric when diverging)
  ColorMap map = ColorMap::viridis;
  double first_row = 0;  // what the first tick of the y axis counts from
  double first_column = 0;
};
Picture draw(const Heatmap& heatmap);

// Matrices of one shape side by side, with shared axes and one colour bar: a bias per head, a map
// per scheme.
struct HeatmapPanels {
  MemberView<const double> values;  // [panels, rows, columns]
  std::vector<std::string> titles;  // one per panel
  std::string title, x_label, y_label, color_label;
  std::optional<double> low, high;  // as in Heatmap
  ColorMap map = ColorMap::viridis;
  double first_row = 0;  // what the ticks count from
  double first_column = 0;
};
Picture draw(const HeatmapPanels& panels);

// A9: rows are queries top-down, columns are keys; words on both axes, colour bar from 0 to the
// largest weight (or `high`).
struct AttentionMap {
  MemberView<const double> weights;  // [queries, keys]
  std::vector<std::string> queries, keys;
  std::string title;
  std::optional<std::int64_t> head;  // shown in the title
  std::optional<double> high;
};
Picture draw(const AttentionMap& map);  // throws Error when the words do not fit the map's shape

// All heads as small multiples with shared axes and one colour bar.
struct AttentionMaps {
  MemberView<const double> weights;  // [heads, queries, keys]
  std::vector<std::string> queries, keys;
  std::string title;
};
Picture draw(const AttentionMaps& maps);

// Lines between two columns of tokens, opacity = weight, one colour per head (BertViz's head view).
struct AttentionLines {
  MemberView<const double> weights;  // [heads, queries, keys]
  std::vector<std::string> queries, keys;
  std::string title;
  double threshold = 0.02;  // weights below it are not drawn
};
Picture draw(const AttentionLines& lines);

// A terminal drawing of a small matrix: colour blocks (24-bit ANSI) with labels, or plain shades
// without colour.
struct TerminalMap {
  MemberView<const double> values;                     // [rows, columns]
  std::vector<std::string> row_labels, column_labels;  // may be empty
  ColorMap map = ColorMap::viridis;
  std::optional<double> low, high;  // as in Heatmap
  bool color = true;
  std::int64_t width =
      80;  // terminal cells; a wider table is refused with an Error that says what fits
};
std::string draw_terminal(const TerminalMap& map);

}  // namespace sextant
