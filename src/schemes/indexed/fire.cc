// FIRE: checks, the way back to its weights, and how it presents itself.
#include "sextant/schemes/indexed/fire.h"

#include <cmath>
#include <string>

#include "core/numbers/max_position.h"
#include "schemes/definition.h"
#include "schemes/indexed/fire_bias.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

struct FireSizes {  // sizes from the shapes of the weights
  std::int64_t hidden = 32;
};

}  // namespace

template <>
inline constexpr auto kFields<Fire> =
    std::tuple{field(&Fire::threshold, "threshold", NumberRange{0, kMaxCoordinate},
                     "L: queries at positions below it share one denominator"),
               field(&Fire::epsilon, "epsilon", kAboveZero, "added to the denominator")};
template <>
inline constexpr auto kFields<FireSizes> = std::tuple{
    field(&FireSizes::hidden, "hidden", IntegerRange{1, 1 << 16}, "hidden units of the network")};
template <>
inline constexpr auto kWeights<FireWeights> = std::tuple{
    weight(&FireWeights::c, "c", "[1]", "c in psi(x) = ln(|c| x + 1); initially 0.1"),
    weight(&FireWeights::threshold_multiplier, "threshold_multiplier", "[1]",
           "factor of the threshold: L = |threshold_multiplier threshold|; initially 1"),
    weight(&FireWeights::w1, "w1", "[hidden]",
           "weights of the hidden layer; initially uniform, +-1"),
    weight(&FireWeights::b1, "b1", "[hidden]", "bias of the hidden layer; initially uniform, +-1"),
    weight(&FireWeights::w2, "w2", "[heads, hidden]",
           "weights of the output; initially uniform, +-1/sqrt(hidden)"),
    weight(&FireWeights::b2, "b2", "[heads]",
           "bias of the output; initially uniform, +-1/sqrt(hidden)")};

namespace {

void check(const Fire& options, const FireWeights& weights) {
  check_fields("fire", options);
  if (!std::isfinite(weights.c)) throw Error("fire.c", "must be finite");
  if (!std::isfinite(weights.threshold_multiplier * options.threshold)) {
    throw Error("fire.threshold_multiplier", "must be finite, times the threshold too");
  }
}

}  // namespace

std::shared_ptr<const ScoreTerm> fire(const Fire& options, const FireWeights& weights,
                                      std::span<const std::int64_t> positions) {
  check(options, weights);
  return std::make_shared<schemes_detail::FireBias>(
      options, weights, schemes_detail::PositionRuns("fire", positions));
}

FireWeights fire_backward(const Fire& options, const FireWeights& weights,
                          View<const double> gradient) {
  check(options, weights);
  const schemes_detail::FireNetwork network(weights);
  const std::int64_t heads = network.heads(), of_pieces = heads * network.pieces() * 2;
  if (gradient.shape() != Shape({1, of_pieces + heads * 2})) {
    throw Error("fire.gradient", "must be [1, " + std::to_string(of_pieces + heads * 2) +
                                     "], as attention_backward() makes it, got " +
                                     gradient.shape().to_string());
  }
  const Tensor<double> packed = copy_of(gradient);
  FireWeights sums{0,
                   0,
                   Tensor<double>(weights.w1.shape()),
                   Tensor<double>(weights.b1.shape()),
                   Tensor<double>(weights.w2.shape()),
                   Tensor<double>(weights.b2.shape())};
  network.backward(weights, packed.data(), sums);
  for (std::int64_t head = 0; head < heads; ++head) {
    sums.c += packed.data()[of_pieces + 2 * head];
    sums.threshold_multiplier += packed.data()[of_pieces + 2 * head + 1];
  }
  return sums;
}

namespace descriptors {
namespace {

constexpr Definition<FireWeights, Fire, FireSizes> kDefinition = {
    .name = "fire",
    .title = "FIRE",
    .kind = SchemeKind::indexed_bias,
    .idea =
        "A small network computes each head's bias from the normalised logarithm of the distance.",
    .paper = "Li et al. 2023, 2310.04418",
    .sizes = [](const auto& of) -> WeightSizes {
      const std::int64_t hidden = of.hidden, heads = of.request.heads;
      return {{"c", {1}},       {"threshold_multiplier", {1}}, {"w1", {hidden}},
              {"b1", {hidden}}, {"w2", {heads, hidden}},       {"b2", {heads}}};
    },
    .initial =
        [](const auto& of, InitialWeights& to) {
          const double out = 1 / std::sqrt(static_cast<double>(of.hidden));
          to.set("c", 0.1);
          to.set("threshold_multiplier", 1);
          to.uniform("w1", -1, 1);
          to.uniform("b1", -1, 1);
          to.uniform("w2", -out, out);
          to.uniform("b2", -out, out);
        },
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return fire(of, weights, of.ids());
    },
    .backward = [](const auto& of, const auto& weights,
                   auto gradient) { return fire_backward(of, weights, gradient); },
};

}  // namespace

constinit const Scheme kFire = scheme_of<kFire, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
