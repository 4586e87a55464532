// Makes the table of any scheme as one array of numbers, and its figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sextant/core/tensor.h"
#include "sextant/figures/figure.h"
#include "sextant/figures/named_scheme.h"
#include "sextant/schemes/scheme.h"
#include "sextant/tables/distance_bias.h"
#include "sextant/tables/rotation_table.h"
#include "sextant/tables/score_term.h"

namespace sextant::figures {

// Selects the rotation of queries, or that of keys if it differs (xPos, temperature).
enum class Side { queries, keys };

struct SchemeArray {
  // added: [length, width]; rotated: [length, pairs, 2] of cosine and sine, multiplied by the
  // attention factor, with one axis [heads] before if heads differ; distance bias: [heads, 2 length
  // - 1], index = key - query + length - 1; indexed bias: [heads, length, length]. -infinity hides.
  Tensor<double> values;
  // The same as rows: rotations as the cosines of all pairs, then their sines; several heads below
  // one another.
  Tensor<double> rows;
  std::int64_t rows_per_head = 0;  // 0: rows do not belong to heads
  TableLabels labels;              // labels of the rows, without a title
};

struct SchemeArrayOptions {
  Side side = Side::queries;
  double factor = 1;  // factor of every number: models that scale their biases
};

// Makes the table of a scheme. Throws Error as the scheme does, with figure.scheme for kinds that
// have no table (none, and content terms, which depend on q and k), and with figure.length for
// biases of more than 2^28 numbers.
SchemeArray scheme_array(const Scheme& scheme, const SchemeRequest& request,
                         const SchemeArrayOptions& options = {});

// Returns the array of an existing table: of rotations; of biases at all distances between `length`
// positions; of biases of `length` queries and as many keys. Throws an Error with figure.length for
// biases of more than 2^28 numbers, and for distances that a table does not have.
SchemeArray array_of(const RotationTable<double>& table, Side side = Side::queries);
SchemeArray array_of(const DistanceBias& bias, std::int64_t heads, std::int64_t length);
SchemeArray array_of(const ScoreTerm& term, std::int64_t heads, std::int64_t length);

// Draws its rows as one map, or one map per head, up to 8, if they belong to heads. The title is
// that of the array's labels.
Picture picture_of(const SchemeArray& array, std::optional<double> max_width = {});

// Makes the table of a scheme of any kind for positions first .. first + length - 1. Throws Error
// as scheme_array(), and with figure.length for more than 2^24 positions.
struct SchemeSizes {
  std::int64_t length = 100, first = 0;
  std::int64_t heads = 8;                // heads of biases
  std::int64_t head_dim = 64;            // channels of rotations
  std::optional<double> max_width = {};  // of the picture, in CSS pixels, as HeatmapPanels
};
Figure plot_scheme(const NamedScheme& scheme, const SchemeSizes& sizes = {});

}  // namespace sextant::figures
