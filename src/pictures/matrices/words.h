// Draws words along the sides of a matrix, and the matrix's cells, for every attention map.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "pictures/layout.h"

namespace sextant::pictures {

// Labels of one side, as they are drawn.
struct Words {
  std::vector<std::string> full;   // the tokens as given
  std::vector<std::string> shown;  // readable and not too long
  double cell = 0;                 // CSS pixels from one word to the next
  double size = kLabelSize;        // of the font
  std::int64_t every = 1;  // only each `every`-th is drawn: the cells are too narrow for all
  double angle = 0;        // 0, -45 or -90, of the words below a matrix
  bool upright = false;    // but single characters are level: nearly all of them are such
  double room = 0;         // their size: width at the left, height below
  double overhang = 0;     // of slanted words to the left of the matrix
};

// Words at the left of rows, or below columns, `cell` pixels apart; longer than `longest` pixels
// they end in an ellipsis.
inline constexpr double kLongestWord = 150;
inline constexpr double kSmallestWord = 10;  // font size; smaller words are omitted
Words words_at_left(const std::vector<std::string>& tokens, double cell,
                    double longest = kLongestWord);
Words words_below(const std::vector<std::string>& tokens, double cell,
                  double longest = kLongestWord);

// Right-aligned, ending at x; the first row's middle is half a cell below `top`.
void draw_words_at_left(Drawing& drawing, const Words& words, double x, double top);
void draw_words_below(Drawing& drawing, const Words& words, double left, double y);

// Matrix `index` of a picture. Few cells are squares that say their words and weight under the
// pointer, many are one image, where a pixel is the largest of its block of weights. `numbers`
// writes the weights into the cells.
void draw_cells(Drawing& drawing, const Panel& panel, std::int64_t index, View<const double> matrix,
                const Scale& scale, const Words& rows, const Words& columns, bool numbers);

// Returns how many of `count` elements a pixel of draw_cells() shows.
inline std::int64_t block_of(std::int64_t count, double pixels) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(count) / std::floor(pixels)));
}

// The same as one image, without words.
void draw_many_cells(Drawing& drawing, const Panel& panel, std::int64_t index,
                     View<const double> matrix, const Scale& scale);

// From zero, or the smallest value if that is negative, to `high`, or else to 1, or the largest
// value if that is above 1.
Scale weight_scale(const Extent& extent, const std::optional<double>& high, ColorMap map,
                   const std::string& where);

// `weights` as [heads, queries, keys]; [queries, keys] is one head. Throws Error, naming `where`'s
// member, for other shapes and unless there is one word per query and per key, and one number per
// head if there are numbers.
View<const double> check_words(const std::string& where, View<const double> weights,
                               const std::vector<std::string>& queries,
                               const std::vector<std::string>& keys,
                               const std::vector<std::int64_t>& heads);

// Names the head at a place: by its number in `heads`, or from 0 if that is empty.
std::string head_name(const std::vector<std::int64_t>& heads, std::int64_t place);

}  // namespace sextant::pictures
