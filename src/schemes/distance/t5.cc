// T5's relative positions: buckets of distances, and a learned number per bucket and head.
#include "sextant/schemes/distance/t5.h"

#include <algorithm>
#include <limits>
#include <string>

#include "schemes/definition.h"
#include "schemes/distance/t5_edges.h"
#include "sextant/core/error.h"

namespace sextant {

template <>
inline constexpr auto kFields<T5> =
    std::tuple{field(&T5::num_buckets, "num_buckets", IntegerRange{2, 4096},
                     "number of buckets, rows of the table")
                   .with_condition("even and at least 4 when bidirectional"),
               field(&T5::max_distance, "max_distance", IntegerRange{2, 1 << 28},
                     "distances from here on share the last bucket")
                   .with_condition("above half the buckets of a direction"),
               field(&T5::bidirectional, "bidirectional",
                     "use half of the buckets for later keys (encoders); no: none (decoders)")};

template <>
inline constexpr auto kWeights<T5Weights> =
    std::tuple{weight(&T5Weights::table, "table", "[num_buckets, heads]",
                      "bias of each bucket; initially normal, standard deviation 0.02")};

T5Buckets::T5Buckets(const T5& options) : bidirectional_(options.bidirectional) {
  check_fields("t5", options);
  const std::int64_t buckets = options.num_buckets;
  if (bidirectional_ && (buckets < 4 || buckets % 2 != 0)) {
    throw Error("t5.num_buckets", "must be even, 4 .. 4096, got " + std::to_string(buckets));
  }
  const std::int64_t n = bidirectional_ ? buckets / 2 : buckets;
  const std::int64_t exact = n / 2;
  if (options.max_distance <= exact) {
    throw Error("t5.max_distance", "must be " + std::to_string(exact + 1) + " .. 2^28 with " +
                                       std::to_string(buckets) + " buckets, got " +
                                       std::to_string(options.max_distance));
  }
  for (std::int64_t d = 0; d <= exact; ++d) edges_.push_back(d);
  for (std::int64_t k = 1; k < n - exact; ++k) {
    edges_.push_back(schemes_detail::t5_edge(exact, options.max_distance, n - exact, k));
  }
}

std::int64_t T5Buckets::operator()(std::int64_t distance) const noexcept {
  constexpr std::int64_t kMaxDistance = std::numeric_limits<std::int64_t>::max();
  const bool future = distance > 0;
  if (future && !bidirectional_) return 0;
  const std::int64_t d = future ? distance : -std::max(distance, -kMaxDistance);
  const std::int64_t bucket =
      std::upper_bound(edges_.begin(), edges_.end(), d) - edges_.begin() - 1;
  return bucket + (future ? static_cast<std::int64_t>(edges_.size()) : 0);
}

std::int64_t t5_bucket(std::int64_t distance, const T5& options) {
  return T5Buckets(options)(distance);
}

namespace {

void check(const T5& options, const Tensor<double>& table) {
  schemes_detail::check_weight("t5", "table", table, {options.num_buckets, "heads"});
}

}  // namespace

DistanceBias t5(const T5& options, const T5Weights& weights, std::int64_t length) {
  const T5Buckets bucket(options);
  check(options, weights.table);
  return schemes_detail::bias_by_distance("t5", weights.table.size(1), length,
                                          [&](std::int64_t head, std::int64_t distance) {
                                            return weights.table(bucket(distance), head);
                                          });
}

T5Weights t5_backward(const T5& options, const T5Weights& weights, View<const double> gradient) {
  const T5Buckets bucket(options);
  check(options, weights.table);
  return {schemes_detail::row_sums("t5", weights.table, gradient, bucket)};
}

namespace descriptors {
namespace {

// The options; throws Error for those that no table can have.
const T5& checked(const T5& options) {
  [[maybe_unused]] const T5Buckets throws(options);
  return options;
}

constexpr Definition<T5Weights, T5> kDefinition = {
    .name = "t5",
    .title = "T5",
    .kind = SchemeKind::distance_bias,
    .idea = "Adds a learned number per head and bucket of distances; long distances share buckets.",
    .paper = "Raffel et al. 2019, 1910.10683",
    .sizes = [](const auto& of) -> WeightSizes {
      return {{"table", {checked(of).num_buckets, of.request.heads}}};
    },
    .initial = [](const auto&, InitialWeights& to) { to.normal("table", 0.02); },
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return t5(of, weights, of.length());
    },
    .backward = [](const auto& of, const auto& weights,
                   auto gradient) { return t5_backward(of, weights, gradient); },
};

}  // namespace

constinit const Scheme kT5 = scheme_of<kT5, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
