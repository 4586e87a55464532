// The table of any scheme as one array of numbers.
#include "sextant/figures/scheme_array.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "figures/tables.h"
#include "sextant/core/error.h"

namespace sextant::figures {
namespace {

constexpr std::int64_t kMaxNumbers = std::int64_t{1} << 28;  // 2 GiB of float64
constexpr std::int64_t kMaxPanels = 8;

// Biases of one sign are magnitudes; else zero is white.
void set_colors(bool is_bias, SchemeArray& array) {
  bool below = false, above = false;
  double largest = 0;
  for (const double value : array.rows.span()) {
    if (!std::isfinite(value)) continue;
    below = below || value < 0;
    above = above || value > 0;
    largest = std::max(largest, std::abs(value));
  }
  if (is_bias && !(below && above)) {
    array.labels.map = ColorMap::viridis;
    return;
  }
  array.labels.high = largest > 0 ? largest : 1;
  array.labels.low = -*array.labels.high;
}

void check_size(std::int64_t heads, double numbers, std::int64_t length) {
  if (static_cast<double>(heads) * numbers <= static_cast<double>(kMaxNumbers)) return;
  throw Error("figure.length", "must give at most 2^28 biases for " + std::to_string(heads) +
                                   " heads, got " + std::to_string(length) + " positions");
}

// With the labels that all arrays have.
SchemeArray finished(SchemeArray array, bool is_bias) {
  if (array.values.rank() < 2) array.values = array.rows.clone();
  if (is_bias) array.labels.color_name = "Bias";
  array.labels.hides = is_bias;
  set_colors(is_bias, array);
  if (const std::int64_t per_head = array.rows_per_head; per_head > 0) {
    array.labels.row_label = [per_head](std::int64_t row) {
      return std::to_string(row / per_head) + ":" + std::to_string(row % per_head);
    };
  }
  return array;
}

// Returns the array of a scheme's result for a request.
SchemeArray array_of_scheme(AppliedPositions<double> applied, const Scheme& scheme,
                            const SchemeRequest& request, Side side) {
  if (applied.rotation) return array_of(*applied.rotation, side);
  if (applied.bias) return array_of(*applied.bias, request.heads, request.rows());
  if (applied.indexed) return array_of(*applied.indexed, request.heads, request.rows());
  if (!applied.added) refuse_scheme(scheme.name, applied, "table");
  SchemeArray array;
  array.rows = std::move(*applied.added);
  return finished(std::move(array), false);
}

}  // namespace

SchemeArray array_of(const RotationTable<double>& rotation, Side side) {
  const RotationTable<double>& table = side == Side::keys ? rotation.for_keys() : rotation;
  const bool by_head = table.cos.rank() == 3;
  const std::int64_t heads = by_head ? table.cos.size(0) : 1;
  const std::int64_t length = table.cos.size(by_head ? 1 : 0);
  const std::int64_t pairs = table.cos.size(by_head ? 2 : 1);
  SchemeArray array;
  array.values = Tensor<double>(by_head ? Shape{heads, length, pairs, 2} : Shape{length, pairs, 2});
  array.rows = Tensor<double>({heads * length, 2 * pairs});
  for (std::int64_t row = 0; row < heads * length; ++row) {
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      const std::int64_t at = row * pairs + pair;
      array.values.data()[2 * at] = array.rows(row, pair) = table.cos.data()[at];
      array.values.data()[2 * at + 1] = array.rows(row, pairs + pair) = table.sin.data()[at];
    }
  }
  if (by_head) {
    array.rows_per_head = length;
    array.labels.row_name = "Head and position";
  }
  array.labels.column_name = "Cosine of each pair, then sine of each pair";
  array.labels.column_groups = {{"cosines", 0, pairs}, {"sines", pairs, pairs}};
  return finished(std::move(array), false);
}

SchemeArray array_of(const DistanceBias& bias, std::int64_t heads, std::int64_t length) {
  const std::int64_t distances = std::max<std::int64_t>(0, 2 * length - 1);
  check_size(heads, static_cast<double>(distances), length);
  SchemeArray array;
  array.rows = Tensor<double>({heads, distances});
  for (std::int64_t head = 0; head < heads && length > 0; ++head) {
    const auto row = biases_by_distance(bias, head, 1 - length, length - 1);
    std::copy(row.begin(), row.end(), &array.rows(head, 0));
  }
  array.labels.row_name = "Head";
  array.labels.column_name = "Distance (key - query)";
  array.labels.first_column = -std::max<std::int64_t>(0, length - 1);
  return finished(std::move(array), true);
}

SchemeArray array_of(const ScoreTerm& term, std::int64_t heads, std::int64_t length) {
  check_size(heads, static_cast<double>(length) * static_cast<double>(length), length);
  const IndexRange tokens{0, length - 1};
  const SequenceExtents square{.q_len = length,
                               .k_len = length,
                               .diagonal_keys = tokens,
                               .seeing_queries = tokens,
                               .visible_keys = tokens};
  term.check({.batch = 1, .heads = heads, .sees_future_keys = true, .sequences = {&square, 1}});
  SchemeArray array;
  array.values = Tensor<double>({heads, length, length});
  array.rows = Tensor<double>({heads * length, length});
  std::vector<float> one(static_cast<std::size_t>(length * length));
  for (std::int64_t head = 0; head < heads && length > 0; ++head) {
    write_term(term, {.head = head, .queries = length, .keys = length}, one.data());
    std::copy(one.begin(), one.end(), array.values.data() + head * length * length);
  }
  std::copy_n(array.values.data(), array.values.count(), array.rows.data());
  array.rows_per_head = length;
  array.labels.row_name = "Query";
  array.labels.column_name = "Key";
  return finished(std::move(array), true);
}

SchemeArray scheme_array(const Scheme& scheme, const SchemeRequest& request,
                         const SchemeArrayOptions& options) {
  SchemeArray array = array_of_scheme(AppliedPositions<double>(scheme.make(request)), scheme,
                                      request, options.side);
  if (options.factor != 1) {
    for (double& value : array.values.span()) value *= options.factor;
    for (double& value : array.rows.span()) value *= options.factor;
    set_colors(array.labels.hides, array);
  }
  return array;
}

Picture picture_of(const SchemeArray& array, std::optional<double> max_width) {
  const std::int64_t per_head = array.rows_per_head;
  if (per_head == 0) return table_map(array.rows.view(), array.labels, {}, max_width);
  const std::int64_t heads = std::min(kMaxPanels, array.rows.size(0) / per_head);
  std::vector<std::string> titles;
  for (std::int64_t head = 0; head < heads; ++head) {
    titles.push_back("Head " + std::to_string(head));
  }
  TableLabels labels = array.labels;
  if (array.values.rank() == 4) labels.row_name = "Position";
  return table_map(View<const double>(array.rows.data(), {heads, per_head, array.rows.size(1)}),
                   labels, std::move(titles), max_width);
}

Figure plot_scheme(const NamedScheme& scheme, const SchemeSizes& sizes) {
  const std::vector<std::int64_t> positions = positions_of(scheme, sizes.length, sizes.first);
  SchemeRequest request = scheme.request(positions);
  request.heads = sizes.heads;
  request.head_dim = sizes.head_dim;
  SchemeArray array = scheme_array(scheme.descriptor(), request);
  array.labels.title = capital(scheme.title());
  if (array.rows_per_head == 0 && array.labels.first_column == 0) {
    array.labels.first_row = sizes.first;
  }
  Picture picture = picture_of(array, sizes.max_width);
  return {std::move(picture), std::move(array.rows), std::move(array.labels), {}};
}

}  // namespace sextant::figures
