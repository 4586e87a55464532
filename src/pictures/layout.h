// Layout: ticks at round numbers, panels with axes, legends that wrap, colour bars.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pictures/drawing.h"
#include "pictures/png/pixels.h"

namespace sextant::pictures {

// The first eight are safe for colour-blind readers (Okabe and Ito's, the yellow, which vanishes on
// white, replaced); eight darker and lighter ones follow.
std::string_view series_color(std::size_t index);
// Dashes distinguish further rounds through the palette; empty in the first round.
std::string_view series_dash(std::size_t index);

struct Ticks {
  std::vector<double> at;
  std::vector<std::string> labels;  // same length; a true minus sign
};

// At most `max_ticks` multiples of 1, 2 or 5 times a power of ten within [low, high]; at least one
// where low < high and max_ticks >= 2. `whole`: steps of at least 1.
Ticks round_ticks(double low, double high, int max_ticks, bool whole = false);

// As many round ticks as fit with clear gaps between their labels along `pixels`.
Ticks fitting_ticks(double low, double high, double pixels, bool vertical, bool whole = false);

// Round numbers in [10^low, 10^high], `at` being their logarithms: multiples of powers of ten, as
// many as fit; evenly spaced ones where the range is too short for those.
Ticks fitting_log_ticks(double low, double high, double pixels, bool vertical);

// One interval of data along an axis, never of length zero.
struct Range {
  double low = 0, high = 1;
};
Range range_of(double low, double high, double margin);  // margin: a share of the length
// The ends of a colour scale: these, or those of range_of() where they are too close.
Range color_range(double low, double high);
// Checks the ends of a colour scale from the caller: finite, within kLargest of zero, and in order.
// Throws Error, naming `where`.low or .high.
void check_ends(const std::string& where, const std::optional<double>& low,
                const std::optional<double>& high);

// Throws Error, naming `where`.max_width, for a picture narrower than 280 pixels.
void check_max_width(const std::string& where, double max_width);

// A rectangle in which data is drawn.
struct Panel {
  double left = 0, top = 0, width = 0, height = 0;
  Range x{}, y{};
  double across(double value) const { return left + (value - x.low) / (x.high - x.low) * width; }
  double down(double value) const { return top + (y.high - value) / (y.high - y.low) * height; }
  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

// [rows, columns] as one panel, [1, rows, columns]; others as they are.
inline View<const double> as_panels(View<const double> values) {
  return values.rank() == 2 ? values.split(0, 1) : values;
}

// Columns of a grid of `count` panels of which `fit` have room side by side: as few as give the
// same number of rows.
inline std::int64_t grid_columns(std::int64_t count, std::int64_t fit) {
  fit = std::clamp<std::int64_t>(fit, 1, count);
  const std::int64_t rows = (count + fit - 1) / fit;
  return (count + rows - 1) / rows;
}

// The width of the longest label, in CSS pixels.
double widest(const std::vector<std::string>& labels, double size, bool bold = false);

// Opens the group of one matrix, with the data that a script on the page needs to find its cells:
// data-rows and data-columns of them in the rectangle data-x, data-y, data-width, data-height of
// the viewBox; data-panel counts the matrices of a picture from 0.
void open_map(Drawing& drawing, const Panel& panel, std::int64_t rows, std::int64_t columns,
              std::int64_t index);
// One image of the matrix in the panel, without its frame.
void draw_image(Drawing& drawing, const Panel& panel, View<const double> matrix,
                const Scale& scale);

enum class Side { left, right, below };
// Short lines and numbers at that side of x or, below, of y; ticks.at are pixels.
void draw_ticks(Drawing& drawing, const Ticks& ticks, Side side, double edge);
// Grid lines, the axis at the bottom and the numbers; `labels_left` false leaves out the numbers
// of the y axis.
void draw_axes(Drawing& drawing, const Panel& panel, Ticks x, Ticks y, bool labels_left);
void draw_x_label(Drawing& drawing, const Panel& panel, std::string_view label, double y);
// Rotated by 90 degrees, centred on [top, top + height], its middle at x.
void draw_y_label(Drawing& drawing, std::string_view label, double x, double top, double height);

inline constexpr double kTickRoom = 22;  // below a panel for its numbers
inline constexpr double kAxisRoom = 18;  // for an axis title
inline constexpr double kTickGap = 7;    // between an axis and its numbers

// Entries one after the other in as many lines as they need; `mark` draws the sign of one entry
// centred at (x, y) in a box kMarkWidth wide. Returns the height used, 0 for no entries.
inline constexpr double kMarkWidth = 22;
using Mark = std::function<void(double x, double y, std::size_t index)>;
double draw_legend(Drawing& drawing, const std::vector<std::string>& names, double left, double top,
                   double width, const Mark& mark);

// Returns the names below the colours of a colour bar: "hidden", "not finite".
std::vector<std::string> gaps_of(const Extent& extent, const Scale& scale);
inline constexpr double kGapPitch = 22;  // from one of them to the next

// A vertical colour bar with its numbers and label, and the greys of `gaps`. Returns the width
// used.
double draw_color_bar(Drawing& drawing, const Scale& scale, std::string_view label,
                      const std::vector<std::string>& gaps, double left, double top, double height);
inline constexpr double kShortestBar = 120;  // has room for ticks even next to a flat map
double color_bar_width(const Scale& scale, std::string_view label,
                       const std::vector<std::string>& gaps, double height);

}  // namespace sextant::pictures
