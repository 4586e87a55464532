// Words along the sides of a matrix, and its cells.
#include "pictures/matrices/words.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pictures/text.h"
#include "sextant/core/numbers.h"

namespace sextant::pictures {
namespace {

constexpr double kSlant = std::numbers::sqrt2 / 2;
constexpr double kLeastNumber = 0.01;   // that is written into a cell
constexpr std::int64_t kSquares = 144;  // cells; more are an image

Words prepare(const std::vector<std::string>& tokens, double cell, double longest) {
  constexpr double kSlack = 1e-9;
  Words words;
  words.full = tokens;
  words.cell = cell;
  words.every = static_cast<std::int64_t>(
      std::max(1.0, std::ceil(kSmallestWord * kLineHeight / cell - kSlack)));
  words.size = std::min(kLabelSize, static_cast<double>(words.every) * cell / kLineHeight);
  for (const std::string& token : tokens) {
    words.shown.push_back(shorten(token_label(token), words.size, longest));
  }
  return words;
}

std::string_view tooltip(const Words& words, std::size_t i) {
  return words.shown[i] == words.full[i] ? std::string_view() : words.full[i];
}

bool is_character(const std::string& shown) {
  return std::ranges::count_if(shown, [](char c) { return (c & 0xC0) != 0x80; }) == 1;
}

// Returns whether the tokens are characters, except special ones such as <bos>.
bool are_characters(const std::vector<std::string>& shown) {
  return std::ranges::any_of(shown, is_character) &&
         std::ranges::all_of(shown, [](const std::string& one) {
           return is_character(one) || (one.starts_with('<') && one.ends_with('>'));
         });
}

std::string cell_text(double value) {
  constexpr double kPlain = 1000;  // more digits than "999.99" do not fit a cell
  if (!std::isfinite(value)) return "–";
  return std::abs(value) < kPlain ? fixed(value, 2) : significant(value, 2);
}

// White lines between cells where there is room for them.
void draw_gaps(Drawing& drawing, const Panel& panel, View<const double> matrix, double cell) {
  constexpr double kLeastCell = 14;
  if (cell < kLeastCell) return;
  std::string d;
  for (std::int64_t i = 1; i < matrix.size(0); ++i) {
    d += "M" + number(panel.left) + " " + number(panel.top + static_cast<double>(i) * cell - 0.5) +
         "h" + number(panel.width);
  }
  for (std::int64_t j = 1; j < matrix.size(1); ++j) {
    d += "M" + number(panel.left + static_cast<double>(j) * cell - 0.5) + " " + number(panel.top) +
         "v" + number(panel.height);
  }
  if (!d.empty()) drawing.path(d, "#fff", 1, "pointer-events=\"none\"");
}

// White in the other words: the paper's would be dark on a dark screen.
std::string cell_color(Rgb color) {
  const std::string name = hex(color);
  return name == kPaper ? "#fff" : name;
}

// In units of a cell, so that each of them is written in a few characters.
void draw_squares(Drawing& drawing, const Panel& panel, View<const double> matrix,
                  const Scale& scale, const Words& rows, const Words& columns) {
  const std::string size = number(rows.cell);
  drawing.open("transform=\"translate(" + number(panel.left) + " " + number(panel.top) + ")scale(" +
               size + ")\" shape-rendering=\"crispEdges\"");
  for (std::int64_t i = 0; i < matrix.size(0); ++i) {
    for (std::int64_t j = 0; j < matrix.size(1); ++j) {
      const double value = matrix(i, j);
      drawing.square(j, i, cell_color(scale.color_of(value)),
                     token_label(rows.full[i]) + " → " + token_label(columns.full[j]) + ": " +
                         (scale.is_hidden(value) ? "hidden" : significant(value, 3)));
    }
  }
  drawing.close();
}

void draw_numbers(Drawing& drawing, const Panel& panel, View<const double> matrix,
                  const Scale& scale, double cell) {
  for (const bool white : {false, true}) {
    // Text must not be between the pointer and the square with the tooltip.
    drawing.open_texts(
        {.size = kNoteSize, .anchor = Anchor::middle, .color = white ? "#fff" : "#000"},
        "pointer-events=\"none\"");
    for (std::int64_t i = 0; i < matrix.size(0); ++i) {
      for (std::int64_t j = 0; j < matrix.size(1); ++j) {
        const double value = matrix(i, j);
        if (scale.is_hidden(value) || std::abs(value) < kLeastNumber) continue;
        if (is_dark(scale.color_of(value)) != white) continue;
        drawing.text(panel.left + (static_cast<double>(j) + 0.5) * cell,
                     panel.top + (static_cast<double>(i) + 0.5) * cell, cell_text(value));
      }
    }
    drawing.close();
  }
}

}  // namespace

Words words_at_left(const std::vector<std::string>& tokens, double cell, double longest) {
  Words words = prepare(tokens, cell, longest);
  words.room = widest(words.shown, words.size);
  return words;
}

Words words_below(const std::vector<std::string>& tokens, double cell, double longest) {
  Words words = prepare(tokens, cell, longest);
  longest = widest(words.shown, words.size);
  const double apart = static_cast<double>(words.every) * cell;
  words.upright = are_characters(words.shown);
  // Letters need no gap as words do.
  if (longest <= apart - (words.upright ? 0 : 6)) {
    words.room = words.size * kLineHeight;
  } else if (!words.upright && apart * kSlant >= words.size * kLineHeight) {
    words.angle = -45;
    words.room = (longest + words.size) * kSlant;
    for (std::size_t j = 0; j < tokens.size(); ++j) {
      const double reach = (text_width(words.shown[j], words.size) + words.size / 2) * kSlant;
      words.overhang = std::max(words.overhang, reach - (static_cast<double>(j) + 0.5) * cell);
    }
  } else {
    words.angle = -90;
    words.room = std::max(longest, words.size * kLineHeight);
  }
  return words;
}

void draw_words_at_left(Drawing& drawing, const Words& words, double x, double top) {
  drawing.open_texts({.size = words.size, .anchor = Anchor::end});
  for (std::size_t i = 0; i < words.shown.size(); i += words.every) {
    drawing.text(x, top + (static_cast<double>(i) + 0.5) * words.cell, words.shown[i],
                 {.tooltip = tooltip(words, i)});
  }
  drawing.close();
}

void draw_words_below(Drawing& drawing, const Words& words, double left, double y) {
  for (const bool level : {true, false}) {
    const auto is_level = [&](std::size_t j) {
      return words.angle == 0 || (words.upright && is_character(words.shown[j]));
    };
    bool open = false;
    for (std::size_t j = 0; j < words.shown.size(); j += words.every) {
      if (is_level(j) != level) continue;
      if (!open) {
        drawing.open_texts({.size = words.size, .anchor = level ? Anchor::middle : Anchor::end});
      }
      open = true;
      const double x = left + (static_cast<double>(j) + 0.5) * words.cell;
      drawing.text(x, level ? y + words.size * kLineHeight / 2 : y, words.shown[j],
                   {.angle = level ? 0 : words.angle, .tooltip = tooltip(words, j)});
    }
    if (open) drawing.close();
  }
}

namespace {

// White cells on white paper: a frame says where the map ends.
void draw_frame(Drawing& drawing, const Panel& panel) {
  drawing.path("M" + number(panel.left - 1) + " " + number(panel.top - 1) + "h" +
                   number(panel.width + 1) + "v" + number(panel.height + 1) + "h" +
                   number(-panel.width - 1) + "z",
               kAxis, 1);
}

void draw_pixels(Drawing& drawing, const Panel& panel, View<const double> matrix,
                 const Scale& scale) {
  const Blocks blocks = largest(matrix, static_cast<std::int64_t>(panel.height),
                                static_cast<std::int64_t>(panel.width));
  draw_image(drawing, panel, blocks.means.view(), scale);
}

}  // namespace

void draw_cells(Drawing& drawing, const Panel& panel, std::int64_t index, View<const double> matrix,
                const Scale& scale, const Words& rows, const Words& columns, bool numbers) {
  draw_frame(drawing, panel);
  open_map(drawing, panel, matrix.size(0), matrix.size(1), index);
  if (matrix.count() <= kSquares) {
    draw_squares(drawing, panel, matrix, scale, rows, columns);
  } else {
    draw_pixels(drawing, panel, matrix, scale);
  }
  draw_gaps(drawing, panel, matrix, rows.cell);
  if (numbers) draw_numbers(drawing, panel, matrix, scale, rows.cell);
  drawing.close();
}

void draw_many_cells(Drawing& drawing, const Panel& panel, std::int64_t index,
                     View<const double> matrix, const Scale& scale) {
  draw_frame(drawing, panel);
  open_map(drawing, panel, matrix.size(0), matrix.size(1), index);
  draw_pixels(drawing, panel, matrix, scale);
  drawing.close();
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
                               const std::vector<std::string>& keys,
                               const std::vector<std::int64_t>& heads) {
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
  const std::int64_t count = rank == 2 ? 1 : weights.size(0);
  if (!heads.empty() && std::ssize(heads) != count) {
    throw Error(where + ".heads", "must be a number for each of the " + std::to_string(count) +
                                      " heads, got " + std::to_string(heads.size()));
  }
  return as_panels(weights);
}

std::string head_name(const std::vector<std::int64_t>& heads, std::int64_t place) {
  return "Head " + std::to_string(heads.empty() ? place : heads[static_cast<std::size_t>(place)]);
}

}  // namespace sextant::pictures
