// WavLM's bias: T5's row of distances, times the gate of the query.
#include "sextant/schemes/indexed/gated_bias.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kernels/attention/bias_rows.h"
#include "schemes/content/relative_vectors.h"
#include "schemes/definition.h"
#include "sextant/core/error.h"
#include "sextant/schemes/distance/t5.h"

namespace sextant {

template <>
inline constexpr auto kFields<GatedBias> =
    std::tuple{field(&GatedBias::num_buckets, "num_buckets", IntegerRange{4, 4096},
                     "number of buckets, rows of the table; half of them are of later keys")
                   .with_condition("even"),
               field(&GatedBias::max_distance, "max_distance", IntegerRange{2, 1 << 28},
                     "distances from here on share the last bucket")
                   .with_condition("above a quarter of the buckets")};
template <>
inline constexpr auto kWeights<GatedBiasWeights> = std::tuple{
    weight(&GatedBiasWeights::table, "table", "[num_buckets, heads]",
           "bias of each bucket; initially normal, standard deviation 0.5"),
    weight(&GatedBiasWeights::gates, "gates", "[batch or 1, heads, length]",
           "factor of each query, computed by the model; initially 1 + a normal number")};

namespace {

constexpr const char* kGatedName = "gated_bias";

T5Buckets buckets_of(const GatedBias& options) {
  check_fields(kGatedName, options);
  if (options.num_buckets % 2 != 0) {
    throw Error("gated_bias.num_buckets",
                "must be even, 4 .. 4096, got " + std::to_string(options.num_buckets));
  }
  if (options.max_distance <= options.num_buckets / 4) {
    throw Error("gated_bias.max_distance",
                "must be " + std::to_string(options.num_buckets / 4 + 1) + " .. 2^28 with " +
                    std::to_string(options.num_buckets) + " buckets, got " +
                    std::to_string(options.max_distance));
  }
  return T5Buckets({.num_buckets = options.num_buckets, .max_distance = options.max_distance});
}

class GatedBiasTerm final : public ScoreTerm {
 public:
  GatedBiasTerm(const T5Buckets& bucket, const GatedBiasWeights& weights)
      : gates_(weights.gates.clone()),
        buckets_(weights.table.size(0)),
        biases_({heads(), 2 * tokens() - 1}) {
    for (std::int64_t d = 1 - tokens(); d < tokens(); ++d) {
      const std::int64_t row = bucket(d);
      bucket_of_.push_back(static_cast<std::int32_t>(row));
      for (std::int64_t h = 0; h < heads(); ++h) {
        biases_(h, d + tokens() - 1) = weights.table(row, h);
      }
    }
  }

  void check(const CallExtents& call) const override {
    if ((gates_.size(0) != 1 && gates_.size(0) != call.batch) || heads() != call.heads) {
      throw Error("gated_bias.gates", "must be [1 or " + std::to_string(call.batch) + ", " +
                                          std::to_string(call.heads) + ", length], got " +
                                          gates_.shape().to_string());
    }
    for (const SequenceExtents& at : call.sequences) {
      if (at.seeing_queries.is_empty()) continue;
      const std::int64_t used =
          at.first_key + std::max(at.seeing_queries.last, at.visible_keys.last) + 1;
      if (used <= tokens()) continue;
      throw Error("gated_bias.gates", "must have a gate for each of " + std::to_string(used) +
                                          " tokens, got " + gates_.shape().to_string());
    }
  }

  TermNeeds needs() const override { return {.parameters = buckets_ * heads() + gates_.count()}; }

  void add(const ScoreTile<float>& tile) const noexcept override {
    kernels::RowList<kernels::BiasLine, decltype(&kernels::add_lines)> lines(&kernels::add_lines);
    for_each_query(
        tile, [&](std::int64_t i, std::int64_t gate, std::int64_t distance, std::int64_t keys) {
          lines.add({.from = &biases_(tile.head, distance),
                     .to = tile.scores + i * tile.stride,
                     .count = keys,
                     .slope = gates_.data()[gate],
                     .intercept = 0});
        });
  }
  void add(const ScoreTile<double>& tile) const noexcept override {
    for_each_query(
        tile, [&](std::int64_t i, std::int64_t gate, std::int64_t distance, std::int64_t keys) {
          const double* biases = &biases_(tile.head, distance);
          for (std::int64_t j = 0; j < keys; ++j) tile.add(i, j, gates_.data()[gate] * biases[j]);
        });
  }

  void backward(const ScoreGradient<double>& tile) const noexcept override {
    double* const dgates = tile.parameters + buckets_ * heads();
    for_each_query(
        tile, [&](std::int64_t i, std::int64_t gate, std::int64_t distance, std::int64_t keys) {
          const double* biases = &biases_(tile.head, distance);
          const double* ds = tile.dscores + i * tile.stride;
          double sum = 0;
          for (std::int64_t j = 0; j < keys; ++j) {
            if (ds[j] == 0) continue;
            sum += ds[j] * biases[j];
            const std::int64_t bucket = bucket_of_[static_cast<std::size_t>(distance + j)];
            tile.parameters[bucket * heads() + tile.head] += ds[j] * gates_.data()[gate];
          }
          dgates[gate] += sum;
        });
  }

 private:
  std::int64_t heads() const noexcept { return gates_.size(1); }
  std::int64_t tokens() const noexcept { return gates_.size(2); }

  // use(i, gate, distance, keys): the indices of the gate of query i, and of its distance from key
  // 0 of the tile, and how many keys have a bias; for queries that see keys.
  template <class Use>
  void for_each_query(const ScoreRect& tile, const Use& use) const noexcept {
    const std::int64_t batch = gates_.size(0) == 1 ? 0 : tile.batch;
    const std::int64_t first = (batch * heads() + tile.head) * tokens() + tile.key_begin;
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      const std::int64_t own = tile.diagonal_key(i);
      const std::int64_t distance = tile.first_key - own + tokens() - 1;
      if (own < 0 || tile.key_begin + own >= tokens()) continue;
      use(i, first + own, distance, std::min(tile.keys, biases_.size(1) - distance));
    }
  }

  Tensor<double> gates_;
  std::int64_t buckets_;
  std::vector<std::int32_t> bucket_of_;  // by distance + tokens - 1
  Tensor<double> biases_;                // [heads, 2 tokens - 1]
};

void check_gates(const Tensor<double>& table, const Tensor<double>& gates) {
  if (gates.rank() != 3 || gates.size(1) != table.size(1) || gates.size(2) == 0) {
    throw Error("gated_bias.gates", "must be [batch or 1, " + std::to_string(table.size(1)) +
                                        ", length], as the heads of the table, got " +
                                        gates.shape().to_string());
  }
  if (!std::ranges::all_of(gates.span(), [](double x) { return std::isfinite(x); })) {
    throw Error("gated_bias.gates", "must be finite");
  }
}

}  // namespace

std::shared_ptr<const ScoreTerm> gated_bias(const GatedBias& options,
                                            const GatedBiasWeights& weights) {
  const T5Buckets bucket = buckets_of(options);
  schemes_detail::check_weight(kGatedName, "table", weights.table, {options.num_buckets, "heads"});
  check_gates(weights.table, weights.gates);
  return std::make_shared<const GatedBiasTerm>(bucket, weights);
}

GatedBiasWeights gated_bias_backward(const GatedBiasWeights& weights, View<const double> gradient) {
  std::int64_t at = 0;
  GatedBiasWeights sums;
  sums.table = schemes_detail::take_gradient(kGatedName, gradient, at, weights.table.shape());
  sums.gates = schemes_detail::take_gradient(kGatedName, gradient, at, weights.gates.shape());
  return sums;
}

namespace descriptors {
namespace {

constexpr Definition<GatedBiasWeights, GatedBias> kDefinition = {
    .name = "gated_bias",
    .title = "gated bias",
    .kind = SchemeKind::indexed_bias,
    .idea = "Adds T5's bias of a bucket of distances, times a gate of the query.",
    .paper = "Chi et al. 2021, 2106.16138; Chen et al. 2021, 2110.13900",
    // How many batch rows there are is for the maker of the gates to say.
    .sizes = [](const auto& of) -> WeightSizes {
      return {{"table", {of.num_buckets, of.request.heads}},
              {"gates", {kAnySize, of.request.heads, of.request.rows()}}};
    },
    .initial =
        [](const auto&, InitialWeights& to) {
          to.normal("table", 0.5);
          to.normal("gates", 1);
          for (double& x : to.at("gates").span()) x += 1;
        },
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return gated_bias(of, weights);
    },
    .backward = [](const auto&, const auto& weights,
                   auto gradient) { return gated_bias_backward(weights, gradient); },
    .weights_of_tokens = true,
};

}  // namespace

constinit const Scheme kGatedBias = scheme_of<kGatedBias, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
