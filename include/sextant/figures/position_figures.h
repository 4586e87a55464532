// Draws a table that is added to embeddings: curves, rows, the whole table, similarities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/figures/figure.h"
#include "sextant/figures/named_scheme.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::figures {

// The default sizes of pictures: those of the course's pictures; width 512 if the whole vector is
// compared.
struct PlotSizes {
  std::int64_t length = 100, width = 512;
};
// Returns the sizes for "sinusoids", "rows", "heatmap", "similarity", "distance", "offset_matrix"
// or "difference".
PlotSizes plot_sizes(std::string_view kind);

// A table and its origin, which is unknown for a table from a file.
struct PositionTable {
  Tensor<double> values;                      // [length, width]
  std::optional<Sinusoidal> options;          // the options that made it
  std::string name = "sinusoidal positions";  // the name for titles
  std::int64_t first = 0;                     // position of row 0
};

// Makes the table of an added scheme for positions first .. first + length - 1. Throws Error as the
// scheme does, for a scheme of another kind, and for more than 2^24 positions of any scheme except
// `sinusoidal`.
PositionTable position_table(const NamedScheme& scheme, std::int64_t length, std::int64_t width,
                             std::int64_t first = 0);
PositionTable position_table(const Sinusoidal& options);

// The pictures of these functions are at most `max_width` CSS pixels wide, as their charts; 350
// suits a phone.

// Draws chosen columns as curves over the positions, smooth if the options are known, with words[k]
// at position k. Throws an Error with figure.columns for none and for one that the table does not
// have, and with figure.words for more words than positions.
Figure plot_sinusoids(const PositionTable& table, const std::vector<std::int64_t>& columns,
                      const std::vector<std::string>& words = {},
                      std::optional<double> max_width = {});
// Returns the curve of a column through its positions and between them, `samples` steps each; x
// counts from 0. It is empty if the values between positions are unknown: for a file, and beyond
// 2^32. Throws an Error with figure.column or figure.samples.
Series column_curve(const PositionTable& table, std::int64_t column, std::int64_t samples);
inline constexpr std::int64_t kBeyondWords = 20;  // positions to draw after the last word

// Draws the vectors of chosen rows, counted from 0, side by side. Throws an Error with figure.rows
// for none and for one that the table does not have.
Figure plot_rows(const PositionTable& table, const std::vector<std::int64_t>& rows,
                 std::optional<double> max_width = {});

// Draws the whole table.
Figure plot_heatmap(const PositionTable& table, std::optional<double> max_width = {});

// Draws the matrix M with PE(p + offset) = M PE(p) for every p, [width, width]: a rotation of each
// pair. Throws Error as offset_matrix(), and with figure.width for more than 4096 columns.
Figure plot_offset_matrix(const Sinusoidal& options, std::int64_t offset,
                          std::optional<double> max_width = {});

// Draws that matrix applied to one position: PE(p), M PE(p), PE(p + offset) and the difference of
// the last two, [4, width], with p in options.first. Throws the same errors.
Figure plot_offset_at_work(const Sinusoidal& options, std::int64_t offset,
                           std::optional<double> max_width = {});

// Draws the cosine similarity of every position with every other. Throws an Error with
// figure.length for no position and for more than 4096; so do the next two functions.
Figure plot_similarity(const PositionTable& table, std::optional<double> max_width = {});

// Similarity by distance: the mean cosine similarity, or mean dot product, of all pairs of rows at
// each distance. `values` are [distance, mean].
enum class Measure { cosine, dot };
Figure plot_distance(const PositionTable& table, Measure measure = Measure::cosine,
                     std::optional<double> max_width = {});

// Returns the means themselves, by distance, of a table [length, width].
std::vector<double> similarity_by_distance(View<const double> table, Measure measure);

}  // namespace sextant::figures
