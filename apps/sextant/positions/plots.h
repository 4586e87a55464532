// The pictures of a table of positions, each with the numbers it shows: what `plot` saves and what
// `report` puts on its page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/pictures/charts.h"
#include "sextant/schemes/added/sinusoidal.h"
#include "streams/table_output.h"

namespace sextant::app {

struct Plot {
  Picture picture;
  Tensor<double> values;  // what is drawn, [rows, columns]
  TableNames names;       // of `values`
};

// Whose table it is: nothing is known of one that came from a file.
struct PositionTableView {
  View<const double> table;                   // [length, width]
  std::optional<Sinusoidal> options;          // how it was made
  std::string name = "sinusoidal positions";  // for titles
  std::int64_t first = 0;                     // position of row 0
};

inline constexpr std::int64_t kBeyondWords = 20;  // positions drawn behind the last word (A2)

// A2: chosen columns over all positions, the words of a sentence marked.
Plot plot_sinusoids(const PositionTableView& source, const std::vector<std::int64_t>& columns,
                    const std::vector<std::string>& words);
// A3: the vectors of chosen positions.
Plot plot_rows(const PositionTableView& source, const std::vector<std::int64_t>& rows);
// A4: the whole table.
Plot plot_heatmap(const PositionTableView& source);
// Cosine similarity of every position with every other.
Plot plot_similarity(const PositionTableView& source);
// How alike two positions are by their distance: mean cosine similarity, or mean dot product, of
// all pairs of rows at each distance.
enum class Measure { cosine, dot };
Plot plot_distance(const PositionTableView& source, Measure measure);

// The means themselves, by distance; of at most 4096 rows.
std::vector<double> alike_by_distance(View<const double> table, Measure measure);

}  // namespace sextant::app
