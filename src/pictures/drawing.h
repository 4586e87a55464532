// Collects SVG elements into a Picture. A drawing has no references, only the ids of its title and
// description, and a style sheet for dark screens that applies only to drawings and is the same in
// all, so any number of them can be in one page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sextant/pictures/canvas.h"

namespace sextant::pictures {

inline constexpr std::string_view kFontFamily =
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif";

// One scale of sizes and greys for every chart.
inline constexpr double kTitleSize = 15;
inline constexpr double kPanelTitleSize = 12.5;
inline constexpr double kLabelSize = 12;  // axis titles, words
inline constexpr double kTickSize = 11;
inline constexpr double kNoteSize = 10.5;
inline constexpr double kSmallestText = 10;  // the smallest readable text, of a page too
inline constexpr double kMargin = 20;        // around every picture
inline constexpr double kLineHeight = 1.2;   // of text, in font sizes
// dark_style() has the dark forms of these. White in another spelling, "#fff", stays white.
inline constexpr std::string_view kPaper = "#ffffff";
inline constexpr std::string_view kInk = "#212934";
inline constexpr std::string_view kMuted = "#56606d";
inline constexpr std::string_view kAxis = "#9aa3ad";
inline constexpr std::string_view kGrid = "#e8ebee";

// At most two decimals: a hundredth of a CSS pixel is invisible.
std::string number(double value);

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = kTickSize;
  Anchor anchor = Anchor::start;
  std::string_view color = kInk;
  bool bold = false;
  double angle = 0;               // degrees, clockwise, about the anchor
  std::string_view tooltip = "";  // shown when the pointer rests on the text
};

struct Segment {
  double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
};

class Drawing {
 public:
  void line(double x1, double y1, double x2, double y2, std::string_view color, double width = 1);
  // As one element.
  void lines(const std::vector<Segment>& segments, std::string_view color, double width = 1);
  void rect(double x, double y, double width, double height, std::string_view fill,
            std::string_view tooltip = "");
  // Draws a square of one unit of length, in a group that defines this unit.
  void square(std::int64_t x, std::int64_t y, std::string_view fill, std::string_view tooltip);
  void circle(double x, double y, double radius, std::string_view fill,
              std::string_view tooltip = "");
  // `d` is the path's data; further attributes are written as they are.
  void path(std::string_view d, std::string_view stroke, double width,
            std::string_view attributes = "");
  void area(std::string_view d, std::string_view fill, double opacity);
  void image(double x, double y, double width, double height, std::string_view png, bool crisp);
  // Centred vertically on y, anchored at x.
  void text(double x, double y, std::string_view words, const TextStyle& style = {});
  void open(std::string_view attributes);  // a group
  // A group of texts with one style, which they need not repeat; rotation and tooltip are their
  // own.
  void open_texts(const TextStyle& style, std::string_view attributes = "");
  void close();
  void raw(std::string_view elements);  // unchanged SVG, for a picture inside a picture

  // `description` is the result of describe() for the chart; empty: the title.
  Picture finish(double width, double height, std::string_view title,
                 std::string_view description = "");

 private:
  std::string body_;
  std::optional<TextStyle> around_;  // of the group of texts that is open
};

// The title at the top of a picture, in as many lines of `width` as it needs, three at most;
// returns the y below it. No title takes no room.
double draw_title(Drawing& drawing, std::string_view title, double left, double top, double width);
// The width a picture should offer its title even when the chart is narrower.
double title_width(std::string_view title);

}  // namespace sextant::pictures
