// Figures of a table that is added to embeddings: curves, rows, the whole table, similarities.
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

// The sizes of pictures where nothing says them: those of the course's own pictures; 512 wide where
// the whole vector is compared.
struct PlotSizes {
  std::int64_t length = 100, width = 512;
};
// Of "sinusoids", "rows", "heatmap", "similarity", "distance", "offset_matrix" or "difference".
PlotSizes plot_sizes(std::string_view kind);

// A table and where it comes from: nothing is known of one that came from a file.
struct PositionTable {
  Tensor<double> values;                      // [length, width]
  std::optional<Sinusoidal> options;          // how it was made
  std::string name = "sinusoidal positions";  // for titles
  std::int64_t first = 0;                     // position of row 0
};

// The table of an added scheme for positions first .. first + length - 1. Throws Error as the
// scheme does, for a scheme of another kind, and for more than 2^24 positions of any but
// `sinusoidal`.
PositionTable position_table(const NamedScheme& scheme, std::int64_t length, std::int64_t width,
                             std::int64_t first = 0);
PositionTable position_table(const Sinusoidal& options);

// Chosen columns as curves over the positions, smooth where the options are known, words[k] marked
// at position k. Throws Error naming figure.columns for none and for one that the table does not
// have, and figure.words for more words than positions.
Figure plot_sinusoids(const PositionTable& table, const std::vector<std::int64_t>& columns,
                      const std::vector<std::string>& words = {});
// The curve of a column through its positions and between them, `samples` steps each; x counts from
// 0. Empty where nothing is known between positions: of a file, and beyond 2^32. Throws Error
// naming figure.column and figure.samples.
Series column_curve(const PositionTable& table, std::int64_t column, std::int64_t samples);
inline constexpr std::int64_t kBeyondWords = 20;  // positions to draw behind the last word

// The vectors of chosen rows, counted from 0, side by side. Throws Error naming figure.rows for
// none and for one that the table does not have.
Figure plot_rows(const PositionTable& table, const std::vector<std::int64_t>& rows);

// The whole table.
Figure plot_heatmap(const PositionTable& table);

// The matrix M with PE(p + offset) = M PE(p) for every p, [width, width]: a rotation of each pair.
// Throws Error as offset_matrix(), and naming figure.width for more than 4096 columns.
Figure plot_offset_matrix(const Sinusoidal& options, std::int64_t offset);

// That matrix at work on one position: PE(p), M PE(p), PE(p + offset) and what the last two differ
// by, [4, width], with p in options.first. Throws Error likewise.
Figure plot_offset_at_work(const Sinusoidal& options, std::int64_t offset);

// Cosine similarity of every position with every other. Throws Error naming figure.length for no
// position and for more than 4096; so do the next two.
Figure plot_similarity(const PositionTable& table);

// Similarity by distance: the mean cosine similarity, or mean dot product, of all pairs of rows at
// each distance. `values` are [distance, mean].
enum class Measure { cosine, dot };
Figure plot_distance(const PositionTable& table, Measure measure = Measure::cosine);

// The means themselves, by distance, of a table [length, width].
std::vector<double> similarity_by_distance(View<const double> table, Measure measure);

}  // namespace sextant::figures
