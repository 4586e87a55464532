// Lines between two columns of words, as strong as the weight, one colour per head: the head view
// of BertViz (Vig 2019, arXiv:1906.05714) as a still picture.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "pictures/chart_numbers.h"
#include "pictures/describe.h"
#include "pictures/layout.h"
#include "pictures/matrices/words.h"
#include "pictures/text.h"
#include "sextant/core/numbers.h"
#include "sextant/pictures/charts.h"

namespace sextant {

using namespace pictures;

namespace {

constexpr double kBetween = 280;  // pixels from one column of words to the other, at most
constexpr double kStroke = 1.8;
constexpr int kShades = 50;  // steps of opacity; lines of one head and shade are one path

constexpr double kTallest = 1600;
constexpr std::size_t kMostLines = 400;  // more are one grey mass

double pitch_of(std::size_t words) {
  return std::min(words <= 40 ? 21.0 : 16.0, kTallest / static_cast<double>(words));
}

struct Chosen {
  double least = 0;  // weight of a line
  std::size_t drawn = 0, all = 0;
};

// Returns the weights from the threshold on, or the strongest kMostLines of them; of equal ones all
// or none, so that the order of the words does not choose.
Chosen choose(View<const double> weights, double threshold) {
  std::vector<double> found;
  for (std::int64_t head = 0; head < weights.size(0); ++head) {
    for (std::int64_t i = 0; i < weights.size(1); ++i) {
      for (std::int64_t j = 0; j < weights.size(2); ++j) {
        const double weight = weights(head, i, j);
        if (weight >= threshold && weight > 0) found.push_back(weight);
      }
    }
  }
  Chosen chosen{threshold, found.size(), found.size()};
  if (found.size() <= kMostLines) return chosen;
  const auto strongest = found.begin() + kMostLines;
  std::nth_element(found.begin(), strongest, found.end(), std::greater<>());
  const double cut = *strongest;  // the strongest omitted one
  chosen.drawn = 0;
  chosen.least = HUGE_VAL;
  for (auto it = found.begin(); it != strongest; ++it) {
    if (!(*it > cut)) continue;
    ++chosen.drawn;
    chosen.least = std::min(chosen.least, *it);
  }
  return chosen;
}

// Lines of different heads start and end next to each other, not on top of each other.
double offset(std::int64_t head, std::int64_t heads, double pitch) {
  return (static_cast<double>(head) + 0.5 - static_cast<double>(heads) / 2) * 0.55 * pitch /
         static_cast<double>(heads);
}

void draw_head(Drawing& drawing, View<const double> weights, std::int64_t head, double threshold,
               double pitch, double left, double top, double between) {
  std::map<int, std::string> by_shade;
  const double shift = offset(head, weights.size(0), pitch);
  for (std::int64_t i = 0; i < weights.size(1); ++i) {
    for (std::int64_t j = 0; j < weights.size(2); ++j) {
      const double weight = weights(head, i, j);
      if (!(weight >= threshold) || weight <= 0) continue;
      const int shade = std::max(1, static_cast<int>(std::min(weight, 1.0) * kShades + 0.5));
      const double from = top + (static_cast<double>(i) + 0.5) * pitch + shift;
      const double to = top + (static_cast<double>(j) + 0.5) * pitch + shift;
      by_shade[shade] += "M" + number(left) + " " + number(from) + "C" +
                         number(left + between * 0.4) + " " + number(from) + " " +
                         number(left + between * 0.6) + " " + number(to) + " " +
                         number(left + between) + " " + number(to);
    }
  }
  for (const auto& [shade, d] : by_shade) {
    drawing.path(d, series_color(static_cast<std::size_t>(head)), kStroke,
                 "stroke-opacity=\"" + number(static_cast<double>(shade) / kShades) + "\"");
  }
}

}  // namespace

Picture draw(const AttentionLines& lines) {
  const View<const double> weights =
      check_words("attention_lines", lines.weights, lines.queries, lines.keys, lines.heads);
  if (!std::isfinite(lines.threshold)) {
    throw Error("attention_lines.threshold", "must be a finite number");
  }
  check_max_width("attention_lines", lines.max_width);
  const std::int64_t heads = weights.size(0);
  const Chosen chosen = choose(weights, lines.threshold);
  const double pitch = pitch_of(std::max(lines.queries.size(), lines.keys.size()));
  const double longest = std::min(kLongestWord, lines.max_width / 5);
  const Words queries = words_at_left(lines.queries, pitch, longest);
  const Words keys = words_at_left(lines.keys, pitch, longest);

  Drawing drawing;
  const double edge = kMargin + std::max(queries.room, text_width(lines.left_name, kTickSize));
  const double left = edge + kTickGap;
  const double key_room = kTickGap + std::max(keys.room, text_width(lines.right_name, kTickSize));
  const double between = std::min(kBetween, lines.max_width - kMargin - key_room - left);
  const double right = left + between + key_room;
  const double width =
      std::max(right - kMargin, std::min(title_width(lines.title), lines.max_width - 2 * kMargin));
  double top = draw_title(drawing, lines.title, kMargin, kMargin, width);
  if (heads > 1) {
    std::vector<std::string> names;
    for (std::int64_t head = 0; head < heads; ++head) {
      names.push_back(head_name(lines.heads, head));
    }
    top += draw_legend(drawing, names, kMargin, top, width, [&](double x, double y, std::size_t i) {
      drawing.line(x - 8, y, x + 8, y, series_color(i), 4);
    });
    top += 8;
  }
  drawing.text(edge, top + 8, lines.left_name, {.anchor = Anchor::end, .color = kMuted});
  drawing.text(left + between + kTickGap, top + 8, lines.right_name, {.color = kMuted});
  top += 20;
  for (std::int64_t head = 0; head < heads; ++head) {
    draw_head(drawing, weights, head, chosen.least, pitch, left, top, between);
  }
  draw_words_at_left(drawing, queries, edge, top);
  drawing.open_texts({.size = keys.size});
  for (std::size_t j = 0; j < keys.shown.size(); j += keys.every) {
    drawing.text(left + between + kTickGap, top + (static_cast<double>(j) + 0.5) * pitch,
                 keys.shown[j],
                 {.tooltip = keys.shown[j] == keys.full[j] ? std::string_view() : keys.full[j]});
  }
  drawing.close();
  double bottom =
      top + static_cast<double>(std::max(lines.queries.size(), lines.keys.size())) * pitch;
  std::string note;
  if (chosen.drawn == 0 && chosen.all > 0) {
    note = "No lines: " + std::to_string(chosen.all) + " are as strong as each other.";
  } else if (chosen.drawn < chosen.all) {
    note = "Opacity is the weight; the strongest " + std::to_string(chosen.drawn) + " of " +
           std::to_string(chosen.all) + " lines.";
  } else if (lines.threshold > 0) {
    note = "Opacity is the weight; below " + significant(lines.threshold, 3) + " no line.";
  }
  drawing.text(kMargin, bottom + 16, shorten(note, kNoteSize, width),
               {.size = kNoteSize, .color = kMuted});
  if (!note.empty()) bottom += 24;
  Picture picture = drawing.finish(kMargin + width + kMargin, bottom + kMargin - 8, lines.title,
                                   describe(lines, weights, chosen.drawn, chosen.all));
  picture.numbers = numbers_of(lines, weights);
  return picture;
}

}  // namespace sextant
