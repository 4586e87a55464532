// BERT's relative keys: one table by query - key, for queries and perhaps for keys.
#include "sextant/schemes/content/relative_key.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schemes/content/relative_vectors.h"
#include "schemes/definition.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

struct RelativeKeyTables {  // sizes from the shapes of the weights
  bool per_head = false;
};

}  // namespace

template <>
inline constexpr auto kFields<RelativeKey> = std::tuple{
    field(&RelativeKey::max_position, "max_position", IntegerRange{1, 1 << 20},
          "largest length of a text: distances are below it"),
    field(&RelativeKey::with_keys, "with_keys",
          "multiply keys with the vectors too, as relative_key_query does; no: relative_key")};
template <>
inline constexpr auto kFields<RelativeKeyTables> = std::tuple{
    field(&RelativeKeyTables::per_head, "per_head", "one table per head; no: one for all heads")};
template <>
inline constexpr auto kWeights<RelativeKeyWeights> = std::tuple{
    weight(&RelativeKeyWeights::table, "table", "[2 max_position - 1, head_dim], or [heads, ...]",
           "by query - key + max_position - 1; initially normal, standard deviation 0.5")};

namespace {

std::int64_t table_rows(const RelativeKey& options) { return 2 * options.max_position - 1; }

void check_span(const RelativeKey& options, const std::vector<std::int64_t>& ids) {
  if (ids.empty()) return;
  const auto [min, max] = std::minmax_element(ids.begin(), ids.end());
  if (*max - *min < options.max_position) return;
  throw Error("relative_key.positions", "must be less than max_position, " +
                                            std::to_string(options.max_position) + ", apart, got " +
                                            std::to_string(*min) + " and " + std::to_string(*max));
}

}  // namespace

std::shared_ptr<const ScoreTerm> relative_key(const RelativeKey& options,
                                              const RelativeKeyWeights& weights,
                                              std::span<const std::int64_t> positions) {
  check_fields("relative_key", options);
  const std::int64_t rows = table_rows(options);
  schemes_detail::RelativeVectors vectors{.scheme = "relative_key"};
  vectors.ids = schemes_detail::checked_ids("relative_key", positions);
  check_span(options, vectors.ids);
  vectors.clamps = false;
  // The first is of the key furthest before the query: the largest query - key.
  for (std::int64_t row = rows - 1; row >= 0; --row) {
    vectors.rows.push_back(static_cast<std::int32_t>(row));
  }
  vectors.key_table = schemes_detail::table_of("relative_key", "table", weights.table, rows);
  if (options.with_keys) vectors.query_table = vectors.key_table.clone();
  vectors.head_dim = vectors.key_table.size(2);
  return schemes_detail::relative_term(std::move(vectors));
}

RelativeKeyWeights relative_key_backward(const RelativeKey& options,
                                         const RelativeKeyWeights& weights,
                                         View<const double> gradient) {
  check_fields("relative_key", options);
  auto next = [&, at = std::int64_t{0}]() mutable {
    return schemes_detail::take_gradient("relative_key", gradient, at, weights.table.shape());
  };
  RelativeKeyWeights sums{next()};
  if (options.with_keys) {
    const Tensor<double> of_keys = next();
    for (std::int64_t n = 0; n < of_keys.count(); ++n) sums.table.data()[n] += of_keys.data()[n];
  }
  return sums;
}

namespace descriptors {
namespace {

constexpr Definition<RelativeKeyWeights, RelativeKey, RelativeKeyTables> kDefinition = {
    .name = "relative_key",
    .title = "relative key",
    .kind = SchemeKind::content,
    .idea = "Multiplies queries, and keys if asked, with a learned vector for each distance.",
    .paper = "Huang et al. 2020, 2009.13658; Shaw et al. 2018, 1803.02155",
    .sizes = [](const auto& of) -> WeightSizes {
      std::vector sizes{table_rows(of), schemes_detail::head_dim_of("relative_key", of.request)};
      if (of.per_head) sizes.insert(sizes.begin(), of.request.heads);
      return {{"table", sizes}};
    },
    .initial = [](const auto&, InitialWeights& to) { to.normal("table", 0.5); },
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return relative_key(of, weights, of.ids());
    },
    .backward = [](const auto& of, const auto& weights,
                   auto gradient) { return relative_key_backward(of, weights, gradient); },
    .max_length = [](const auto& of) { return of.max_position; },
};

}  // namespace

constinit const Scheme kRelativeKey = scheme_of<kRelativeKey, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
