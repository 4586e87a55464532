// T5's relative positions: buckets of distances, and a learned number per bucket and head.
#include "sextant/schemes/distance/t5.h"

#include <algorithm>
#include <limits>
#include <string>

#include "schemes/descriptors.h"
#include "schemes/distance/distances.h"
#include "schemes/distance/t5_edges.h"
#include "schemes/initial_weights.h"
#include "schemes/weight_fields.h"
#include "sextant/core/error.h"

namespace sextant {

template <>
inline constexpr auto kFields<T5> = std::tuple{
    field(&T5::num_buckets, "num_buckets", IntegerRange{2, 4096}, "rows of the table")
        .further("even and at least 4 when bidirectional"),
    field(&T5::max_distance, "max_distance", IntegerRange{2, 1 << 28},
          "all distances from here on share the last bucket")
        .further("above half the buckets of a direction"),
    field(&T5::bidirectional, "bidirectional",
          "whether half of the buckets are for the future (encoders) or none (decoders)")};

template <>
inline constexpr auto kWeights<T5Weights> =
    std::tuple{weight(&T5Weights::table, "table", "[num_buckets, heads]",
                      "the bias of each bucket; initially normal, deviation 0.02")};

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
  if (table.rank() != 2 || table.size(0) != options.num_buckets) {
    throw Error("t5.table", "must be [" + std::to_string(options.num_buckets) + ", heads], got " +
                                table.shape().to_string());
  }
  schemes_detail::check_finite("t5", "table", table);
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

T5 options_of(const Parameters& given) {
  const auto options = given.options<T5>();
  T5Buckets{options};  // refuses what no table can have
  return options;
}

WeightSizes weight_sizes(const SchemeRequest& request) {
  return {{"table", {options_of(Parameters(kT5, request)).num_buckets, request.heads}}};
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  InitialWeights weights(kT5, request);
  weights.normal("table", 0.02);
  return weights.take();
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kT5, request);
  return t5(options_of(given), weights_of<T5Weights>(given),
            schemes_detail::distances_of("t5", request));
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kT5, request);
  return named(t5_backward(options_of(given), weights_of<T5Weights>(given), gradient));
}

}  // namespace

constinit const Scheme kT5 = {
    .name = "t5",
    .title = "T5",
    .kind = SchemeKind::distance_bias,
    .idea = "Adds a learned number per head and bucket of distances; long distances share buckets.",
    .paper = "Raffel et al. 2019, 1910.10683",
    .parameters = parameters_of<T5, InitialSeed>,
    .make = make,
    .weights = kWeightList<T5Weights>,
    .weight_sizes = weight_sizes,
    .initial_weights = initial_weights,
    .backward = backward,
};

}  // namespace descriptors
}  // namespace sextant
