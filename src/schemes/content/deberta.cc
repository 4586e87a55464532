// DeBERTa's disentangled attention: both tables by the row that the released code uses.
#include "sextant/schemes/content/deberta.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "schemes/content/relative_vectors.h"
#include "schemes/definition.h"
#include "sextant/core/error.h"

namespace sextant {

template <>
inline constexpr auto kFields<Deberta> =
    std::tuple{field(&Deberta::position_buckets, "position_buckets", IntegerRange{0, 1 << 20, 2},
                     "distances beyond half of it share buckets; 0: one bucket per distance"),
               field(&Deberta::max_position, "max_position", IntegerRange{1, 1 << 20},
                     "distances from here on are treated as equal")
                   .with_condition("above position_buckets / 2 + 1")};
template <>
inline constexpr auto kWeights<DebertaWeights> =
    std::tuple{weight(&DebertaWeights::query_table, "query_table", "[heads, 2s, head_dim]",
                      "multiplied with keys (p2c), s = position_buckets or max_position; initially "
                      "normal, standard deviation 0.5"),
               weight(&DebertaWeights::key_table, "key_table", "[heads, 2s, head_dim]",
                      "multiplied with queries (c2p); initially the same")};

namespace {

void check_options(const Deberta& options) {
  check_fields("deberta", options);
  const std::int64_t buckets = options.position_buckets;
  const std::int64_t min = buckets == 0 ? 1 : buckets / 2 + 2;
  if (options.max_position < min) {
    throw Error("deberta.max_position", "must be " + std::to_string(min) + " .. 2^20 with " +
                                            std::to_string(buckets) + " buckets, got " +
                                            std::to_string(options.max_position));
  }
}

std::int64_t row_of(std::int64_t distance, const Deberta& options) {
  const std::int64_t s = deberta_span(options), middle = options.position_buckets / 2;
  // All distances beyond the last position are equal, and their bucket is out of the table's range.
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

std::shared_ptr<const ScoreTerm> deberta(const Deberta& options, const DebertaWeights& weights,
                                         std::span<const std::int64_t> positions) {
  const std::int64_t rows = 2 * deberta_span(options);
  schemes_detail::RelativeVectors vectors{.scheme = "deberta"};
  vectors.ids = schemes_detail::checked_ids("deberta", positions);
  for (std::int64_t d = -options.max_position; d <= options.max_position; ++d) {
    vectors.rows.push_back(static_cast<std::int32_t>(row_of(-d, options)));
  }
  vectors.key_table = schemes_detail::table_of("deberta", "key_table", weights.key_table, rows);
  vectors.query_table =
      schemes_detail::table_of("deberta", "query_table", weights.query_table, rows);
  vectors.head_dim = vectors.key_table.size(2);
  if (vectors.query_table.size(2) != vectors.head_dim) {
    throw Error("deberta.query_table", "must have the channels of key_table, " +
                                           std::to_string(vectors.head_dim) + ", got " +
                                           weights.query_table.shape().to_string());
  }
  vectors.terms = 3;
  return schemes_detail::relative_term(std::move(vectors));
}

DebertaWeights deberta_backward(const Deberta&, const DebertaWeights& weights,
                                View<const double> gradient) {
  std::int64_t at = 0;
  DebertaWeights sums;
  sums.key_table =
      schemes_detail::take_gradient("deberta", gradient, at, weights.key_table.shape());
  sums.query_table =
      schemes_detail::take_gradient("deberta", gradient, at, weights.query_table.shape());
  return sums;
}

namespace descriptors {
namespace {

constexpr Definition<DebertaWeights, Deberta> kDefinition = {
    .name = "deberta",
    .title = "DeBERTa",
    .kind = SchemeKind::content,
    .idea =
        "Adds products of queries with key positions and of keys with query positions, by bucket.",
    .paper = "He et al. 2020, 2006.03654; 2021, 2111.09543",
    .sizes = [](const auto& of) -> WeightSizes {
      const std::vector sizes{of.request.heads, 2 * deberta_span(of),
                              schemes_detail::head_dim_of("deberta", of.request)};
      return {{"query_table", sizes}, {"key_table", sizes}};
    },
    .initial =
        [](const auto&, InitialWeights& to) {
          to.normal("query_table", 0.5);
          to.normal("key_table", 0.5);
        },
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return deberta(of, weights, of.ids());
    },
    .backward = [](const auto& of, const auto& weights,
                   auto gradient) { return deberta_backward(of, weights, gradient); },
};

}  // namespace

constinit const Scheme kDeberta = scheme_of<kDeberta, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
