// FIRE: checks, the way back to its weights, and how it presents itself.
#include "sextant/schemes/indexed/fire.h"

#include <cmath>
#include <string>
#include <utility>

#include "schemes/descriptors.h"
#include "schemes/indexed/fire_bias.h"
#include "schemes/initial_weights.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

void check(const Fire& options, const FireWeights& weights) {
  if (!(options.threshold >= 0 && options.threshold <= 0x1p53)) {
    throw Error("fire.threshold", "must be in 0 .. 2^53, got " + shortest(options.threshold));
  }
  if (!(options.epsilon > 0) || !std::isfinite(options.epsilon)) {
    throw Error("fire.epsilon", "must be > 0 and finite, got " + shortest(options.epsilon));
  }
  if (!std::isfinite(weights.c)) throw Error("fire.c", "must be finite");
  if (!std::isfinite(weights.threshold_multiplier * options.threshold)) {
    throw Error("fire.threshold_multiplier", "must be finite, times the threshold too");
  }
}

}  // namespace

std::shared_ptr<const IndexedBias> fire(const Fire& options, const FireWeights& weights,
                                        std::span<const std::int64_t> positions) {
  check(options, weights);
  return std::make_shared<detail::FireBias>(options, weights,
                                            detail::PositionRuns("fire", positions));
}

FireWeights fire_backward(const Fire& options, const FireWeights& weights,
                          View<const double> gradient) {
  check(options, weights);
  const detail::FireNetwork network(weights);
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

constexpr SchemeParameter kParameters[] = {
    {"threshold", "512", "0 .. 2^53", "L: queries before it have the same denominator"},
    {"hidden", "32", "1 .. 2^16", "units of the network"},
    {"epsilon", "1e-06", "> 0", "added to the denominator"},
    {"seed", "0", "0 .. 2^32 - 1", "of the initial weights"},
};
constexpr SchemeWeight kWeights[] = {
    {"c", "[1]", "of psi(x) = ln(|c| x + 1); initially 0.1"},
    {"threshold_multiplier", "[1]", "L is |threshold_multiplier threshold|; initially 1"},
    {"w1", "[hidden]", "initially uniform, +-1"},
    {"b1", "[hidden]", "initially uniform, +-1"},
    {"w2", "[heads, hidden]", "initially uniform, +-1/sqrt(hidden)"},
    {"b2", "[heads]", "initially uniform, +-1/sqrt(hidden)"},
};

std::int64_t hidden_of(const Parameters& given) {
  const std::int64_t hidden = given.integer("hidden");
  if (hidden < 1 || hidden > (1 << 16)) {
    throw Error("fire.hidden", "must be in 1 .. 2^16, got " + std::to_string(hidden));
  }
  return hidden;
}

Tensor<double> scalar(double value) {
  Tensor<double> one(Shape{1});
  one(std::int64_t{0}) = value;
  return one;
}

SchemeWeights named(FireWeights&& given) {
  SchemeWeights weights;
  weights.emplace("c", scalar(given.c));
  weights.emplace("threshold_multiplier", scalar(given.threshold_multiplier));
  weights.emplace("w1", std::move(given.w1));
  weights.emplace("b1", std::move(given.b1));
  weights.emplace("w2", std::move(given.w2));
  weights.emplace("b2", std::move(given.b2));
  return weights;
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  const Parameters given(kFire, request);
  InitialWeights random(given, request);
  const std::int64_t hidden = hidden_of(given);
  const double out = 1 / std::sqrt(static_cast<double>(hidden));
  FireWeights weights;
  weights.w1 = random.uniform(Shape{hidden}, -1, 1);
  weights.b1 = random.uniform(Shape{hidden}, -1, 1);
  weights.w2 = random.uniform({request.heads, hidden}, -out, out);
  weights.b2 = random.uniform(Shape{request.heads}, -out, out);
  return named(std::move(weights));
}

FireWeights weights_of(const Parameters& given, const SchemeRequest& request) {
  const std::int64_t hidden = hidden_of(given);
  FireWeights weights;
  weights.c = given.weight("c", Shape{1})(std::int64_t{0});
  weights.threshold_multiplier = given.weight("threshold_multiplier", Shape{1})(std::int64_t{0});
  weights.w1 = given.weight("w1", Shape{hidden}).clone();
  weights.b1 = given.weight("b1", Shape{hidden}).clone();
  weights.w2 = given.weight("w2", {request.heads, hidden}).clone();
  weights.b2 = given.weight("b2", Shape{request.heads}).clone();
  return weights;
}

Fire options_of(const Parameters& given) {
  return {given.number("threshold"), given.number("epsilon")};
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kFire, request);
  detail::runs_of("fire", request);  // refuses several axes
  return fire(options_of(given), weights_of(given, request), request.positions);
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kFire, request);
  return named(fire_backward(options_of(given), weights_of(given, request), gradient));
}

}  // namespace

constinit const Scheme kFire = {
    .name = "fire",
    .kind = SchemeKind::indexed_bias,
    .idea =
        "A small network computes each head's bias from the normalised logarithm of the distance.",
    .paper = "Li et al. 2023, 2310.04418",
    .parameters = kParameters,
    .make = make,
    .weights = kWeights,
    .initial_weights = initial_weights,
    .backward = backward,
};

}  // namespace descriptors
}  // namespace sextant
