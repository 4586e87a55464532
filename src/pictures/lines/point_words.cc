// Words where they cover least.
#include "pictures/lines/point_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "pictures/text.h"

namespace sextant::pictures {
namespace {

constexpr double kSize = kNoteSize, kHigh = kNoteSize * kLineHeight;  // of a word
constexpr double kDot = 2.8, kGap = 3;  // radius, and from the dot to its word

struct Box {
  double left, top, right, bottom;
  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  bool holds(double x, double y) const { return x > left && x < right && y > top && y < bottom; }
};

struct Point {
  double x, y;
  std::string word;
  Box dot() const { return {x - kDot, y - kDot, x + kDot, y + kDot}; }
};

std::vector<Point> points_of(const Panel& panel, const Series& series,
                             const std::vector<std::string>& labels) {
  std::vector<Point> points;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (!std::isfinite(series.x[k]) || !std::isfinite(series.y[k])) continue;
    points.push_back({panel.across(series.x[k]), panel.down(series.y[k]), token_label(labels[k])});
  }
  return points;
}

// The best of eight places around a point: inside the panel, over no other word and no dot, and
// over as little of the line as can be.
std::optional<Box> best_place(const Panel& panel, const Point& point,
                              const std::vector<Point>& points, const std::vector<Box>& words,
                              const std::vector<Point>& line) {
  const double wide = text_width(point.word, kSize);
  const double up = kDot + kGap + kHigh / 2, side = kDot + kGap + wide / 2, near = kHigh / 2 + 2;
  const std::array<std::array<double, 2>, 8> places = {{{0, -up},
                                                        {0, up},
                                                        {side, -near},
                                                        {-side, -near},
                                                        {side, near},
                                                        {-side, near},
                                                        {side, 0},
                                                        {-side, 0}}};
  std::optional<Box> best;
  std::ptrdiff_t least = 0;
  for (const auto& [right, down] : places) {
    const double x = point.x + right, y = point.y + down;
    const Box box = {x - wide / 2 - 1, y - kHigh / 2, x + wide / 2 + 1, y + kHigh / 2};
    if (box.left < panel.left || box.right > panel.right() || box.top < panel.top ||
        box.bottom > panel.bottom()) {
      continue;
    }
    if (std::ranges::any_of(words, [&](const Box& word) { return box.overlaps(word); })) continue;
    if (std::ranges::any_of(points, [&](const Point& p) { return box.overlaps(p.dot()); })) {
      continue;
    }
    const auto covered =
        std::ranges::count_if(line, [&](const Point& p) { return box.holds(p.x, p.y); });
    if (best && covered >= least) continue;
    best = box;
    least = covered;
  }
  return best;
}

// Returns the places of all words if they are horizontal; none if there are too many.
std::vector<Box> level_places(const Panel& panel, const std::vector<Point>& points,
                              const std::vector<Point>& line) {
  std::vector<Box> words;
  for (const Point& point : points) {
    const auto place = best_place(panel, point, points, words, line);
    if (!place) return {};
    words.push_back(*place);
  }
  return words;
}

// Towards the middle of the panel, of which a word may take nearly half.
void draw_upright(Drawing& drawing, const Panel& panel, const Point& point) {
  const bool down = point.y < panel.top + panel.height / 2;
  const double end = down ? panel.bottom() : panel.top;
  const double from = point.y + (down ? kDot + kGap : -kDot - kGap);
  const std::string shown = shorten(point.word, kSize, std::abs(end - from));
  drawing.text(point.x, from, shown,
               {.size = kSize,
                .anchor = down ? Anchor::end : Anchor::start,
                .angle = -90,
                .tooltip = shown == point.word ? "" : point.word});
}

}  // namespace

void draw_point_words(Drawing& drawing, const Panel& panel, const Series& series,
                      const Series& line, const std::vector<std::string>& labels) {
  const std::vector<Point> points = points_of(panel, series, labels);
  std::vector<Point> through;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    through.push_back({panel.across(line.x[i]), panel.down(line.y[i]), ""});
  }
  const std::vector<Box> places = level_places(panel, points, through);
  // Words stay readable where the line passes under them.
  drawing.open("stroke=\"" + std::string(kPaper) +
               "\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"");
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (places.empty()) {
      draw_upright(drawing, panel, points[k]);
    } else {
      const Box& box = places[k];
      drawing.text((box.left + box.right) / 2, (box.top + box.bottom) / 2, points[k].word,
                   {.size = kSize, .anchor = Anchor::middle});
    }
  }
  drawing.close();
  for (std::size_t k = 0; k < labels.size(); ++k) {
    if (!std::isfinite(series.x[k]) || !std::isfinite(series.y[k])) continue;
    drawing.circle(panel.across(series.x[k]), panel.down(series.y[k]), kDot, series_color(0),
                   std::to_string(k) + " " + token_label(labels[k]) + ": " + number(series.y[k]));
  }
}

}  // namespace sextant::pictures
