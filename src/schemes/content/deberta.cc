// DeBERTa's disentangled attention: both tables by the row that the released code uses.
#include "sextant/schemes/content/deberta.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "schemes/content/relative_vectors.h"
#include "schemes/descriptors.h"
#include "schemes/initial_weights.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

constexpr std::int64_t kMost = 1 << 20;

void check_options(const Deberta& options) {
  const std::int64_t buckets = options.position_buckets;
  if (buckets < 0 || buckets % 2 != 0 || buckets > kMost) {
    throw Error("deberta.position_buckets",
                "must be even, 0 .. 2^20, got " + std::to_string(buckets));
  }
  const std::int64_t least = buckets == 0 ? 1 : buckets / 2 + 2;
  if (options.max_position < least || options.max_position > kMost) {
    throw Error("deberta.max_position", "must be " + std::to_string(least) + " .. 2^20 with " +
                                            std::to_string(buckets) + " buckets, got " +
                                            std::to_string(options.max_position));
  }
}

std::int64_t row_of(std::int64_t distance, const Deberta& options) {
  const std::int64_t s = deberta_span(options), middle = options.position_buckets / 2;
  // Beyond the last position all are alike, and its bucket is out of the table's range.
  const std::int64_t d = std::clamp(distance, -options.max_position, options.max_position);
  const std::int64_t size = std::abs(d);
  std::int64_t bucket = size;
  if (middle > 0 && size > middle) {
    const auto m = static_cast<double>(middle);
    const double steps = std::log(static_cast<double>(size) / m) /
                         std::log(static_cast<double>(options.max_position - 1) / m) * (m - 1);
    bucket = static_cast<std::int64_t>(std::ceil(steps)) + middle;
  }
  return std::clamp<std::int64_t>((d < 0 ? -bucket : bucket) + s, 0, 2 * s - 1);
}

}  // namespace

std::int64_t deberta_span(const Deberta& options) {
  check_options(options);
  return options.position_buckets > 0 ? options.position_buckets : options.max_position;
}

std::int64_t deberta_row(std::int64_t distance, const Deberta& options) {
  check_options(options);
  return row_of(distance, options);
}

std::shared_ptr<const ContentTerm> deberta(const Deberta& options, View<const double> query_table,
                                           View<const double> key_table) {
  const std::int64_t rows = 2 * deberta_span(options);
  detail::RelativeVectors vectors{.scheme = "deberta"};
  vectors.ids = detail::checked_ids("deberta", options.positions);
  for (std::int64_t d = -options.max_position; d <= options.max_position; ++d) {
    vectors.rows.push_back(static_cast<std::int32_t>(row_of(-d, options)));
  }
  vectors.e = detail::table_of("deberta", "key_table", key_table, rows);
  vectors.g = detail::table_of("deberta", "query_table", query_table, rows);
  vectors.head_dim = vectors.e.size(2);
  if (vectors.g.size(2) != vectors.head_dim) {
    throw Error("deberta.query_table", "must have the channels of key_table, " +
                                           std::to_string(vectors.head_dim) + ", got " +
                                           query_table.shape().to_string());
  }
  vectors.terms = 3;
  return detail::relative_term(std::move(vectors));
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"position_buckets", "256", "even, 2 .. 2^20, or 0",
     "distances beyond half of it share buckets; 0: each has its own"},
    {"max_position", "512", "> position_buckets / 2 + 1, up to 2^20",
     "all distances from here on are the same"},
    {"seed", "0", "0 .. 2^32 - 1", "of the initial tables"},
};
constexpr SchemeWeight kWeights[] = {
    {"query_table", "[heads, 2s, head_dim]",
     "multiplied with keys (p2c), s = position_buckets or max_position; initially normal, "
     "deviation 0.5"},
    {"key_table", "[heads, 2s, head_dim]", "multiplied with queries (c2p); initially the same"},
};

Deberta options_of(const Parameters& given, const SchemeRequest& request) {
  const Deberta options{.position_buckets = given.integer("position_buckets"),
                        .max_position = given.integer("max_position"),
                        .positions = request.positions};
  check_options(options);
  if (request.head_dim < 1) {
    throw Error("deberta.head_dim", "must be >= 1, got " + std::to_string(request.head_dim));
  }
  return options;
}

Shape table_shape(const Deberta& options, const SchemeRequest& request) {
  return {request.heads, 2 * deberta_span(options), request.head_dim};
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  const Parameters given(kDeberta, request);
  InitialWeights random(given, request);
  const Shape shape = table_shape(options_of(given, request), request);
  SchemeWeights weights;
  weights.emplace("query_table", random.normal(shape, 0.5));
  weights.emplace("key_table", random.normal(shape, 0.5));
  return weights;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kDeberta, request);
  const Deberta options = options_of(given, request);
  const Shape shape = table_shape(options, request);
  return deberta(options, given.weight("query_table", shape), given.weight("key_table", shape));
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kDeberta, request);
  const Shape shape = table_shape(options_of(given, request), request);
  std::int64_t at = 0;
  SchemeWeights gradients;
  gradients.emplace("key_table", detail::take_gradient("deberta", gradient, at, shape));
  gradients.emplace("query_table", detail::take_gradient("deberta", gradient, at, shape));
  return gradients;
}

}  // namespace

constinit const Scheme kDeberta = {
    .name = "deberta",
    .kind = SchemeKind::content,
    .idea =
        "Adds products of queries with key positions and of keys with query positions, by bucket.",
    .paper = "He et al. 2020, 2006.03654; 2021, 2111.09543",
    .parameters = kParameters,
    .make = make,
    .weights = kWeights,
    .initial_weights = initial_weights,
    .backward = backward,
};

}  // namespace descriptors
}  // namespace sextant
