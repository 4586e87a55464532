// Two tables of schemes and how far they are apart.
#include "sextant/figures/scheme_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant::figures {
namespace {

SchemeArray array_of(const NamedScheme& scheme, const SchemeSizes& sizes, std::int64_t width,
                     const std::vector<std::int64_t>& positions) {
  SchemeRequest request = scheme.request(positions);
  request.width = width;
  request.heads = sizes.heads;
  request.head_dim = sizes.head_dim;
  return scheme_array(scheme.descriptor(), request);
}

// 0 for pairs that both hide, NaN for those that one hides.
double difference(double first, double second) {
  if (first == second) return 0;
  if (!std::isfinite(first) || !std::isfinite(second)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return second - first;
}

}  // namespace

SchemeDifference plot_difference(const NamedScheme& first, const NamedScheme& second,
                                 const SchemeSizes& sizes, std::int64_t width) {
  const auto positions = positions_of(first, sizes.length, sizes.first);
  const SchemeArray one = array_of(first, sizes, width, positions);
  SchemeArray other = array_of(second, sizes, width, positions);
  if (one.rows.shape() != other.rows.shape()) {
    throw Error("figure.schemes", "must be tables of one shape, got " +
                                      one.rows.shape().to_string() + " and " +
                                      other.rows.shape().to_string());
  }
  SchemeDifference result;
  for (std::int64_t row = 0; row < one.rows.size(0); ++row) {
    for (std::int64_t column = 0; column < one.rows.size(1); ++column) {
      double& value = other.rows(row, column);
      value = difference(one.rows(row, column), value);
      if (std::abs(value) <= result.largest || std::isnan(value)) continue;
      result.largest = std::abs(value);
      result.row = row;
      result.column = column;
    }
  }
  TableLabels& labels = other.labels;
  labels.title =
      capital(second.name()) + " minus " + first.name() +
      (result.largest == 0 ? ": no difference" : ": at most " + significant(result.largest, 3));
  labels.color_name = "Difference";
  labels.map = ColorMap::diverging;
  labels.hides = false;
  labels.high = result.largest > 0 ? result.largest : 1;
  labels.low = -*labels.high;
  if (other.rows_per_head == 0 && labels.first_column == 0) labels.first_row = sizes.first;
  Picture picture = picture_of(other, sizes.max_width);
  result.figure = {std::move(picture), std::move(other.rows), std::move(labels), {}};
  return result;
}

}  // namespace sextant::figures
