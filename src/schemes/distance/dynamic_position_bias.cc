// Dynamic position bias: a network of the distance, evaluated once per distance.
#include "sextant/schemes/distance/dynamic_position_bias.h"

#include <cmath>
#include <string>
#include <vector>

#include "schemes/definition.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

struct DynamicPositionBiasSizes {  // sizes from the shapes of the weights
  std::int64_t hidden = 32;
  std::int64_t depth = 2;
};
using NetworkWeights = DynamicPositionBiasWeights;

}  // namespace

template <>
inline constexpr auto kFields<DynamicPositionBias> =
    std::tuple{field(&DynamicPositionBias::log_distance, "log_distance",
                     "the network gets sign(d) ln(|d| + 1) of the distance d; no: d itself")};
template <>
inline constexpr auto kFields<DynamicPositionBiasSizes> =
    std::tuple{field(&DynamicPositionBiasSizes::hidden, "hidden", IntegerRange{1, 1 << 12},
                     "units of each hidden layer"),
               field(&DynamicPositionBiasSizes::depth, "depth", IntegerRange{2, 64},
                     "hidden layers of the network")};
template <>
inline constexpr auto kWeights<NetworkWeights> = std::tuple{
    weight(&NetworkWeights::w_in, "w_in", "[hidden]",
           "weights of the first hidden layer; initially uniform, +-1"),
    weight(&NetworkWeights::b_in, "b_in", "[hidden]", "its bias; initially uniform, +-1"),
    weight(&NetworkWeights::w_hidden, "w_hidden", "[depth - 1, hidden, hidden]",
           "weights of the others, [to, from]; initially uniform, +-1/sqrt(hidden)"),
    weight(&NetworkWeights::b_hidden, "b_hidden", "[depth - 1, hidden]",
           "their biases; initially the same"),
    weight(&NetworkWeights::w_out, "w_out", "[heads, hidden]",
           "weights of the output; initially the same"),
    weight(&NetworkWeights::b_out, "b_out", "[heads]", "bias of the output; initially the same")};

namespace {

constexpr std::string_view kScheme = "dynamic_position_bias";

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

// The network with room for the sums and outputs of all layers of one distance.
class DistanceNetwork {
 public:
  DistanceNetwork(const DynamicPositionBias& options, const NetworkWeights& weights)
      : w_(weights), log_distance_(options.log_distance) {
    check_fields(kScheme, options);
    schemes_detail::check_weight(kScheme, "w_out", w_.w_out, {"heads", "hidden"});
    schemes_detail::check_weight(kScheme, "b_hidden", w_.b_hidden, {"depth - 1", w_.w_out.size(1)});
    if (w_.w_out.count() == 0 || w_.b_hidden.count() == 0) {
      throw Error("dynamic_position_bias.w_hidden",
                  "must have at least one unit and one layer, and w_out a head");
    }
    heads_ = w_.w_out.size(0);
    hidden_ = w_.w_out.size(1);
    depth_ = w_.b_hidden.size(0) + 1;
    schemes_detail::check_weight(kScheme, "w_in", w_.w_in, {hidden_});
    schemes_detail::check_weight(kScheme, "b_in", w_.b_in, {hidden_});
    schemes_detail::check_weight(kScheme, "w_hidden", w_.w_hidden, {depth_ - 1, hidden_, hidden_});
    schemes_detail::check_weight(kScheme, "b_out", w_.b_out, {heads_});
    sums_ = outputs_ = Vectors(static_cast<std::size_t>(depth_ * hidden_));
    slopes_ = before_ = Vectors(static_cast<std::size_t>(hidden_));
  }

  std::int64_t heads() const noexcept { return heads_; }

  // Computes the hidden layers of query - key.
  void evaluate(std::int64_t distance) {
    input_ = static_cast<double>(distance);
    if (log_distance_) input_ = std::copysign(std::log1p(std::abs(input_)), input_);
    for (std::int64_t to = 0; to < hidden_; ++to) set(0, to, w_.w_in(to) * input_ + w_.b_in(to));
    for (std::int64_t layer = 1; layer < depth_; ++layer) {
      const double* from = outputs_.data() + (layer - 1) * hidden_;
      for (std::int64_t to = 0; to < hidden_; ++to) {
        const double* row = w_.w_hidden.data() + ((layer - 1) * hidden_ + to) * hidden_;
        double sum = w_.b_hidden(layer - 1, to);
        for (std::int64_t n = 0; n < hidden_; ++n) sum += row[n] * from[n];
        set(layer, to, sum);
      }
    }
  }
  double bias(std::int64_t head) const {
    const double* from = outputs_.data() + (depth_ - 1) * hidden_;
    double sum = w_.b_out(head);
    for (std::int64_t n = 0; n < hidden_; ++n) sum += w_.w_out(head, n) * from[n];
    if (!std::isfinite(sum)) throw Error(kScheme, "must have weights that give finite biases");
    return sum;
  }

  // Adds the gradients for the distance that was evaluated; gradient_of(head) is that of the bias.
  template <class GradientOf>
  void backward(const GradientOf& gradient_of, NetworkWeights& to) {
    const double* last = outputs_.data() + (depth_ - 1) * hidden_;
    slopes_.assign(slopes_.size(), 0);
    for (std::int64_t head = 0; head < heads_; ++head) {
      const double g = gradient_of(head);
      to.b_out(head) += g;
      for (std::int64_t n = 0; n < hidden_; ++n) {
        to.w_out(head, n) += g * last[n];
        slopes_[static_cast<std::size_t>(n)] += g * w_.w_out(head, n);
      }
    }
    for (std::int64_t layer = depth_ - 1; layer > 0; --layer) layer_backward(layer, to);
    for (std::int64_t n = 0; n < hidden_; ++n) {
      const double g = slopes_[static_cast<std::size_t>(n)] * derivative(0, n);
      to.w_in(n) += g * input_;
      to.b_in(n) += g;
    }
  }

 private:
  using Vectors = std::vector<double>;

  void set(std::int64_t layer, std::int64_t unit, double sum) {
    const auto at = static_cast<std::size_t>(layer * hidden_ + unit);
    sums_[at] = sum;
    outputs_[at] = sum * sigmoid_of(sum);
  }
  // silu'(x) = s + x s (1 - s), s = sigmoid(x).
  double derivative(std::int64_t layer, std::int64_t unit) const {
    const double x = sums_[static_cast<std::size_t>(layer * hidden_ + unit)], s = sigmoid_of(x);
    return s + x * s * (1 - s);
  }
  // From the gradient of the layer's outputs, in slopes_, to that of the layer before it.
  void layer_backward(std::int64_t layer, NetworkWeights& to) {
    const double* from = outputs_.data() + (layer - 1) * hidden_;
    before_.assign(before_.size(), 0);
    for (std::int64_t unit = 0; unit < hidden_; ++unit) {
      const double g = slopes_[static_cast<std::size_t>(unit)] * derivative(layer, unit);
      to.b_hidden(layer - 1, unit) += g;
      for (std::int64_t n = 0; n < hidden_; ++n) {
        to.w_hidden(layer - 1, unit, n) += g * from[n];
        before_[static_cast<std::size_t>(n)] += g * w_.w_hidden(layer - 1, unit, n);
      }
    }
    slopes_.swap(before_);
  }

  const NetworkWeights& w_;
  bool log_distance_;
  std::int64_t heads_ = 0, hidden_ = 0, depth_ = 0;
  double input_ = 0;
  Vectors sums_, outputs_;   // [depth, hidden]
  Vectors slopes_, before_;  // [hidden]
};

}  // namespace

DistanceBias dynamic_position_bias(const DynamicPositionBias& options,
                                   const DynamicPositionBiasWeights& weights, std::int64_t length) {
  DistanceNetwork network(options, weights);
  schemes_detail::check_distances(kScheme, network.heads(), length);
  DistanceBias bias{Tensor<float>::uninitialized({network.heads(), 2 * length - 1}), length - 1};
  for (std::int64_t column = 0; column < 2 * length - 1; ++column) {
    check_interruption();
    network.evaluate(length - 1 - column);
    for (std::int64_t head = 0; head < network.heads(); ++head) {
      bias.values(head, column) = schemes_detail::rounded_bias(network.bias(head));
    }
  }
  return bias;
}

DynamicPositionBiasWeights dynamic_position_bias_backward(const DynamicPositionBias& options,
                                                          const DynamicPositionBiasWeights& weights,
                                                          View<const double> gradient) {
  DistanceNetwork network(options, weights);
  const std::int64_t length =
      schemes_detail::length_of_gradient(kScheme, network.heads(), gradient);
  const auto zeros = [](const Tensor<double>& of) { return Tensor<double>(of.shape()); };
  NetworkWeights sums{zeros(weights.w_in),     zeros(weights.b_in),  zeros(weights.w_hidden),
                      zeros(weights.b_hidden), zeros(weights.w_out), zeros(weights.b_out)};
  for (std::int64_t column = 0; column < 2 * length - 1; ++column) {
    check_interruption();
    network.evaluate(length - 1 - column);
    network.backward([&](std::int64_t head) { return gradient(head, column); }, sums);
  }
  return sums;
}

namespace descriptors {
namespace {

constexpr Definition<DynamicPositionBiasWeights, DynamicPositionBias, DynamicPositionBiasSizes>
    kDefinition = {.name = "dynamic_position_bias",
                   .title = "dynamic position bias",
                   .kind = SchemeKind::distance_bias,
                   .idea = "A small network computes each head's bias from the signed distance.",
                   .paper = "x-transformers 2022; Wang et al. 2021, 2108.00154",
                   .sizes = [](const auto& of) -> WeightSizes {
                     const std::int64_t n = of.hidden, heads = of.request.heads;
                     return {{"w_in", {n}},
                             {"b_in", {n}},
                             {"w_hidden", {of.depth - 1, n, n}},
                             {"b_hidden", {of.depth - 1, n}},
                             {"w_out", {heads, n}},
                             {"b_out", {heads}}};
                   },
                   .initial =
                       [](const auto& of, InitialWeights& to) {
                         const double end = 1 / std::sqrt(static_cast<double>(of.hidden));
                         for (const char* first : {"w_in", "b_in"}) to.uniform(first, -1, 1);
                         for (const char* other : {"w_hidden", "b_hidden", "w_out", "b_out"}) {
                           to.uniform(other, -end, end);
                         }
                       },
                   .make = [](const auto& of, const auto& weights) -> SchemeTable {
                     return dynamic_position_bias(of, weights, of.length());
                   },
                   .backward =
                       [](const auto& of, const auto& weights, auto gradient) {
                         return dynamic_position_bias_backward(of, weights, gradient);
                       }};

}  // namespace

constinit const Scheme kDynamicPositionBias = scheme_of<kDynamicPositionBias, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
