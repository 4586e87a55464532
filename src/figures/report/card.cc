// Draws the preview image of a link to the report: the sentence, its swapped form and the verdict.
#include <algorithm>

#include "figures/report/parts.h"
#include "pictures/drawing.h"
#include "pictures/text.h"
#include "sextant/core/numbers.h"
#include "sextant/figures/report.h"
#include "sextant/pictures/charts.h"
#include "sextant/text/segment.h"

namespace sextant::figures {
namespace {

using pictures::Drawing;

constexpr double kCardWidth = 1200, kCardHeight = 630;  // the size that social networks expect
constexpr double kEdge = 64;
constexpr std::string_view kBlue = "#2f6fb0", kOrange = "#c96a1b";

// Breaks words into lines of at most `width` pixels; a text longer than `lines` ends in an
// ellipsis.
std::vector<std::string> wrapped(const std::string& text, double size, bool bold, double width,
                                 std::size_t lines) {
  std::vector<std::string> rows = {""};
  for (const std::string& word : split_spaces(text)) {
    const std::string longer = rows.back().empty() ? word : rows.back() + " " + word;
    if (rows.back().empty() || pictures::text_width(longer, size, bold) <= width) {
      rows.back() = longer;
    } else if (rows.size() == lines) {
      rows.back() = pictures::shorten(longer, size, width, bold);
      break;
    } else {
      rows.push_back(word);
    }
  }
  for (std::string& row : rows) row = pictures::shorten(row, size, width, bold);
  return rows;
}

double draw_lines(Drawing& drawing, const std::vector<std::string>& lines, double y, double size,
                  std::string_view color, bool bold) {
  for (const std::string& line : lines) {
    drawing.text(kEdge, y, line, {.size = size, .color = color, .bold = bold});
    y += size * 1.25;
  }
  return y;
}

// Draws the distances of the outputs as two bars.
void draw_bars(Drawing& drawing, const Experiment& made, double y) {
  const double full = std::max(made.with.largest_difference, made.without.largest_difference);
  constexpr double kNames = 330, kBar = 560;
  for (const auto& [name, verdict] :
       {std::pair{"without positions", &made.without}, std::pair{"with positions", &made.with}}) {
    drawing.text(kEdge, y, name, {.size = 30});
    const double wide = full > 0 ? kBar * verdict->largest_difference / full : 0;
    drawing.rect(kEdge + kNames, y - 18, std::max(wide, 2.0), 36, verdict->same ? kBlue : kOrange);
    drawing.text(kEdge + kNames + wide + 16, y, apart(*verdict), {.size = 26});
    y += 62;
  }
}

}  // namespace

Picture report_card(const std::string& given, const ReportOptions& options) {
  const ReportText text = read_report_text(given, options.words);
  const std::optional<Experiment> made = order_experiment(text);
  Drawing drawing;
  double y = draw_lines(drawing, wrapped(heading_of(text), 46, true, kCardWidth - 2 * kEdge, 2), 96,
                        46, pictures::kInk, true);
  if (made) {
    const std::string other = sentence_of(swapped(text.tokens, *text.swap));
    y = draw_lines(drawing, wrapped(other, 36, false, kCardWidth - 2 * kEdge, 2), y + 14, 36,
                   kOrange, false);
    drawing.text(kEdge, std::max(y + 34, 330.0), "How far apart are the outputs of attention?",
                 {.size = 30, .color = pictures::kMuted});
    draw_bars(drawing, *made, std::max(y + 34, 330.0) + 62);
  }
  drawing.text(kEdge, kCardHeight - 52, "Order matters: positions and attention, step by step",
               {.size = 30, .bold = true});
  drawing.text(kCardWidth - kEdge, kCardHeight - 52, "sextant",
               {.size = 30, .anchor = pictures::Anchor::end, .color = pictures::kMuted});
  return drawing.finish(kCardWidth, kCardHeight, heading_of(text), made ? made->verdict : "");
}

}  // namespace sextant::figures
