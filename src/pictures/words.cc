// Words along the sides of a matrix, and its cells.
#include "pictures/words.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pictures/text.h"
#include "sextant/core/numbers.h"

namespace sextant::pictures {
namespace {

constexpr double kLongest = 150;   // pixels of a word; the rest is behind an ellipsis
constexpr double kSmallest = 7.5;  // font size below which words are left out instead
constexpr double kSlant = std::numbers::sqrt2 / 2;
constexpr double kLeastNumber = 0.01;       // that is written into a cell
constexpr std::int64_t kRectangles = 1024;  // cells; more are an image
constexpr std::int64_t kPixels = 2400;      // per side of that image

Words prepare(const std::vector<std::string>& tokens, double cell) {
  Words words;
  words.full = tokens;
  words.cell = cell;
  words.every = static_cast<std::int64_t>(std::max(1.0, std::ceil(kSmallest * kLineHeight / cell)));
  words.size = std::min(kLabelSize, static_cast<double>(words.every) * cell / kLineHeight);
  for (const std::string& token : tokens) {
    words.shown.push_back(shorten(token_label(token), words.size, kLongest));
  }
  return words;
}

std::string_view tooltip(const Words& words, std::size_t i) {
  return words.shown[i] == words.full[i] ? std::string_view() : words.full[i];
}

std::string cell_text(double value) {
  constexpr double kPlain = 1000;  // more digits than "999.99" do not fit a cell
  if (!std::isfinite(value)) return "–";
  return std::abs(value) < kPlain ? fixed(value, 2) : significant(value, 2);
}

void draw_rectangles(Drawing& drawing, View<const double> matrix, const Scale& scale, double left,
                     double top, const Words& rows, const Words& columns, bool numbers) {
  const double cell = rows.cell;
  // A line between cells where there is room for it.
  const double gap = cell >= 14 ? 1 : 0;
  drawing.open("shape-rendering=\"crispEdges\"");
  for (std::int64_t i = 0; i < matrix.size(0); ++i) {
    for (std::int64_t j = 0; j < matrix.size(1); ++j) {
      const double value = matrix(i, j);
      const std::string says = token_label(rows.full[i]) + " → " + token_label(columns.full[j]) +
                               ": " + (scale.is_hidden(value) ? "hidden" : significant(value, 3));
      drawing.rect(left + static_cast<double>(j) * cell, top + static_cast<double>(i) * cell,
                   cell - gap, cell - gap, hex(scale.color_of(value)), says);
    }
  }
  drawing.close();
  if (!numbers) return;
  // Text must not stand between the pointer and the rectangle that says the words.
  drawing.open("pointer-events=\"none\"");
  for (std::int64_t i = 0; i < matrix.size(0); ++i) {
    for (std::int64_t j = 0; j < matrix.size(1); ++j) {
      const double value = matrix(i, j);
      if (scale.is_hidden(value) || std::abs(value) < kLeastNumber) continue;
      drawing.text(left + (static_cast<double>(j) + 0.5) * cell,
                   top + (static_cast<double>(i) + 0.5) * cell, cell_text(value),
                   {.size = kNoteSize,
                    .anchor = Anchor::middle,
                    .color = is_dark(scale.color_of(value)) ? "#fff" : "#000"});
    }
  }
  drawing.close();
}

}  // namespace

Words words_at_left(const std::vector<std::string>& tokens, double cell) {
  Words words = prepare(tokens, cell);
  words.room = widest(words.shown, words.size);
  return words;
}

Words words_below(const std::vector<std::string>& tokens, double cell) {
  Words words = prepare(tokens, cell);
  const double longest = widest(words.shown, words.size);
  const double apart = static_cast<double>(words.every) * cell;
  if (longest <= apart - 6) {
    words.room = words.size * kLineHeight;
  } else if (apart * kSlant >= words.size * kLineHeight) {
    words.angle = -45;
    words.room = (longest + words.size) * kSlant;
    for (std::size_t j = 0; j < tokens.size(); ++j) {
      const double reach = (text_width(words.shown[j], words.size) + words.size / 2) * kSlant;
      words.overhang = std::max(words.overhang, reach - (static_cast<double>(j) + 0.5) * cell);
    }
  } else {
    words.angle = -90;
    words.room = longest;
  }
  return words;
}

void draw_words_at_left(Drawing& drawing, const Words& words, double x, double top) {
  for (std::size_t i = 0; i < words.shown.size(); i += words.every) {
    drawing.text(x, top + (static_cast<double>(i) + 0.5) * words.cell, words.shown[i],
                 {.size = words.size, .anchor = Anchor::end, .tooltip = tooltip(words, i)});
  }
}

void draw_words_below(Drawing& drawing, const Words& words, double left, double y) {
  for (std::size_t j = 0; j < words.shown.size(); j += words.every) {
    const double x = left + (static_cast<double>(j) + 0.5) * words.cell;
    const bool level = words.angle == 0;
    drawing.text(x, level ? y + words.size * kLineHeight / 2 : y, words.shown[j],
                 {.size = words.size,
                  .anchor = level ? Anchor::middle : Anchor::end,
                  .angle = words.angle,
                  .tooltip = tooltip(words, j)});
  }
}

void draw_cells(Drawing& drawing, View<const double> matrix, const Scale& scale, double left,
                double top, const Words& rows, const Words& columns, bool numbers) {
  // White cells on white paper: a frame says where the map ends.
  const double across = static_cast<double>(matrix.size(1)) * columns.cell;
  const double down = static_cast<double>(matrix.size(0)) * rows.cell;
  drawing.path("M" + number(left - 1) + " " + number(top - 1) + "h" + number(across + 1) + "v" +
                   number(down + 1) + "h" + number(-across - 1) + "z",
               kAxis, 1);
  if (matrix.count() <= kRectangles) {
    draw_rectangles(drawing, matrix, scale, left, top, rows, columns, numbers);
    return;
  }
  const Blocks blocks = average(matrix, kPixels, kPixels);
  const double wide = across / static_cast<double>(blocks.means.size(1));
  const double high = down / static_cast<double>(blocks.means.size(0));
  drawing.image(left, top, across, down,
                matrix_png(blocks.means.view(), scale, repeats(wide), repeats(high)),
                std::min(wide, high) >= kCrisp);
}

Scale weight_scale(const Extent& extent, const std::optional<double>& high, ColorMap map,
                   const std::string& where) {
  constexpr double kRounding = 1e-5;  // of float32 weights
  const double highest = extent.high > 1 + kRounding ? extent.high : 1;
  Scale scale{
      .low = std::min(0.0, extent.low), .high = high.value_or(highest), .map = map, .hides = true};
  check_ends(where, std::nullopt, high);
  if (high && !(*high > scale.low)) {
    throw Error(where + ".high",
                "must be above " + shortest(scale.low) + ", got " + shortest(*high));
  }
  return scale;
}

View<const double> check_words(const std::string& where, View<const double> weights,
                               const std::vector<std::string>& queries,
                               const std::vector<std::string>& keys) {
  const int rank = weights.rank();
  if (rank < 2 || rank > 3 || weights.count() == 0) {
    throw Error(where + ".weights",
                "must be [queries, keys] or [heads, queries, keys] and not "
                "empty, got " +
                    weights.shape().to_string());
  }
  const auto compare = [&](const char* which, const std::vector<std::string>& words, int axis) {
    if (static_cast<std::int64_t>(words.size()) == weights.size(axis)) return;
    throw Error(where + "." + which,
                std::string("must be one word per ") + (axis == rank - 2 ? "row" : "column") +
                    " of the weights " + weights.shape().to_string() + " (" +
                    std::to_string(weights.size(axis)) + "), got " + std::to_string(words.size()));
  };
  compare("queries", queries, rank - 2);
  compare("keys", keys, rank - 1);
  return as_panels(weights);
}

}  // namespace sextant::pictures
