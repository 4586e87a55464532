// Draws charts from plain tables and labels. One panel is a special case of several.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/pictures/canvas.h"
#include "sextant/pictures/color.h"
#include "sextant/pictures/numbers_view.h"

namespace sextant {

// One line, or one set of points.
struct Series {
  std::string name;  // the name in the legend
  // Equal numbers of both. A line has a gap where a number is not finite. At most 1e300 in
  // magnitude.
  std::vector<double> x, y;
  // The ends of a band around the line, one per point, or none. It has a gap where an end is not
  // finite; a point between gaps has a bar.
  std::vector<double> low = {}, high = {};
};
// Returns a series of y over first, first + 1, ...
Series counted(std::string name, std::vector<double> y, std::int64_t first = 0);

struct LinePanel {
  std::string title = {};
  std::vector<Series> series = {};  // the i-th series of all panels has one colour
  // Interpolated points of the line of the first series. Unset: straight lines.
  Series curve = {};
  std::vector<Series> behind = {};  // grey lines without names and bands, for comparison
};

// Panels of series with the same axes, up to three side by side if `max_width` has room, where
// they become narrower, by a quarter at most; labelled points need their width. Series that are
// equal to the pixel are one line, "rotary = YaRN". In a single panel, names are at the ends of the
// lines if they have room, and more than five lines get a panel each; otherwise a legend names
// them.
struct LinePanels {
  std::string title, x_label, y_label;
  std::vector<LinePanel> panels;
  bool points = false;    // draw markers instead of lines
  bool markers = false;   // draw markers on the lines
  std::string band = {};  // the meaning of bands, for the legend: "3 seeds: mean, deviation"
  // Equal factors are equal distances; every finite number must be positive.
  bool log_x = false, log_y = false;
  std::vector<double> x_ticks = {};  // the numbers on the x axis; empty: round ones
  bool whole_x = false;              // x counts something: only whole numbers are on the axis
  // Names of the first points of each panel's first series, next to them. A panel grows until they
  // do not overlap; if that takes more than 2400 pixels, points are discs with the number k
  // instead, and a legend gives the label of each k.
  std::vector<std::string> point_labels = {};
  // CSS pixels of a panel, 50 .. 2400; it is wider if labelled points need it.
  double panel_width = 640, panel_height = 300;
  double max_width = 3000;       // CSS pixels of the picture, 280 or more: 350 suits a phone
  std::string description = {};  // the name of a picture without a title, for screen readers
};
// Throws Error, naming line_panels.<member>, for no panel, panels that differ in their number of
// series, x, y and bands of different lengths, no finite point, more labels than points, numbers
// that an axis cannot show, and panels of another size.
Picture draw(const LinePanels& chart);

// Adjacent columns with a common name, such as all sines.
struct ColumnGroup {
  std::string name;
  std::int64_t first = 0, count = 0;
};

// Matrices of one shape as images, side by side, with the same axes and one colour bar: a bias per
// head, a map per scheme. A single one without a title is drawn large. Cells are whole pixels; if
// there are more values than pixels, a pixel is the mean of a block of them, and a line below the
// title says so.
struct HeatmapPanels {
  NumbersView values;               // [panels, rows, columns], or [rows, columns] for one panel
  std::vector<std::string> titles;  // one per panel; may be absent for one panel
  std::string title, x_label, y_label, color_label;
  // Ends of the colour scale; unset: from the values (symmetric for a diverging scale).
  std::optional<double> low, high;
  ColorMap map = ColorMap::viridis;
  double first_row = 0, first_column = 0;  // the first numbers of the axes
  bool hides = false;  // -infinity is a hidden pair, grey and named so, and not a number
  // Words instead of the numbers of the axes: one per row and per column, or none. Long ones are
  // cut with an ellipsis.
  std::vector<std::string> row_labels = {}, column_labels = {};
  std::vector<ColumnGroup> column_groups = {};  // their names are below the columns
  double max_width = 950;  // CSS pixels of the picture, 280 or more: 350 suits a phone
};
// Throws Error, naming heatmap_panels.<member>, for no values, titles that are not one per panel,
// labels that are not one per row or column, groups of other columns, ends that are not finite or
// not in order, and a narrower max_width.
Picture draw(const HeatmapPanels& panels);

// Attention weights: rows are queries from the top, columns are keys, with their tokens; one map
// per head, and a colour bar from 0 to 1 (or `high`, or the largest number above 1), the same for
// all pictures of weights. A single map is drawn large, a small one with its weights as numbers,
// from 0.01 on; for 20 tokens or more the mean of the heads is large, with the heads as thumbnails
// below it. If there are more weights than pixels, a pixel is the largest of its weights, and a
// line below the title says so. A hidden pair, -infinity, is grey and has no number.
struct AttentionMaps {
  NumbersView weights;  // [heads, queries, keys], or [queries, keys] for one head
  std::vector<std::string> queries, keys;
  std::string title;
  std::optional<double> high = {};
  ColorMap map = ColorMap::sequential;
  std::string row_name = "Queries", column_name = "Keys";  // names of the axes of a large map
  double max_width = 950;  // CSS pixels of the picture, 280 or more: 360 suits a phone
  std::vector<std::int64_t> heads = {};  // the number of each head; empty: from 0
};
// Throws Error, naming attention_maps.<member>, for no weights, tokens that are not one per query
// and key, numbers that are not one per head, a `high` that is not above the scale's lower end, and
// a narrower max_width.
Picture draw(const AttentionMaps& maps);

// Lines between two columns of tokens, with the weight as opacity and one colour per head
// (BertViz's head view). If there are very many, only the strongest are drawn, and a note says so.
struct AttentionLines {
  NumbersView weights;  // [heads, queries, keys], or [queries, keys] for one head
  std::vector<std::string> queries, keys;
  std::string title;
  double threshold = 0.02;                                 // smaller weights are not drawn
  std::string left_name = "Queries", right_name = "Keys";  // names of the columns of words
  double max_width = 950;                                  // as in AttentionMaps
  std::vector<std::int64_t> heads = {};                    // as in AttentionMaps
};
// Throws Error, naming attention_lines.<member>, as for AttentionMaps and for a threshold that is
// not finite.
Picture draw(const AttentionLines& lines);

// Small matrices of one shape drawn with characters, one below the other, with one scale: colour
// blocks (24-bit ANSI), or plain shades without colour. Every column has its label above it:
// horizontal if all fit, numbers vertically; columns of longer words are numbered, and lines below
// explain the numbers. Labels of rows are cut with an ellipsis.
struct TerminalMap {
  NumbersView values;  // [panels, rows, columns], or [rows, columns] for one panel
  std::vector<std::string> row_labels, column_labels;  // may be empty
  ColorMap map = ColorMap::viridis;
  std::optional<double> low, high;  // as in HeatmapPanels
  bool color = true;
  bool hides = false;                    // as in HeatmapPanels
  std::int64_t width = 80;               // terminal cells
  std::vector<std::string> titles = {};  // lines above the panels; may be absent for one panel
  std::string row_name = {}, column_name = {};  // printed below if both are set
};
// Throws Error, naming terminal_map.<member>, for a table that is too wide (with the width that
// fits), for labels that are not one per row and column, and titles that are not one per panel.
std::string draw_terminal(const TerminalMap& map);

}  // namespace sextant
