// The network of the distance: a case by hand, its formula, its gradients, and what is refused.
#include "sextant/schemes/distance/dynamic_position_bias.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "schemes/distance/distance_checks.h"

namespace sextant::dynamic_position_bias_test {
namespace {

using ::testing::HasSubstr;

double silu(double x) { return x / (1 + std::exp(-x)); }

// One head's bias by the text of x-transformers' DynamicPositionBias, layer by layer.
testing::DistanceFormula plain(bool log_distance) {
  return [=](const SchemeWeights& w, std::int64_t head, std::int64_t distance) {
    auto x = static_cast<double>(-distance);  // query - key
    if (log_distance) x = (x > 0 ? 1 : x < 0 ? -1 : 0) * std::log(std::abs(x) + 1);
    const std::int64_t hidden = w.at("w_in").size(0), layers = w.at("b_hidden").size(0);
    std::vector<double> h;
    for (std::int64_t n = 0; n < hidden; ++n) {
      h.push_back(silu(w.at("w_in")(n) * x + w.at("b_in")(n)));
    }
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      std::vector<double> next;
      for (std::int64_t to = 0; to < hidden; ++to) {
        double sum = 0;
        for (std::int64_t n = 0; n < hidden; ++n) {
          sum += w.at("w_hidden")(layer, to, n) * h[static_cast<std::size_t>(n)];
        }
        next.push_back(silu(sum + w.at("b_hidden")(layer, to)));
      }
      h = next;
    }
    double sum = 0;
    for (std::int64_t n = 0; n < hidden; ++n) {
      sum += w.at("w_out")(head, n) * h[static_cast<std::size_t>(n)];
    }
    return sum + w.at("b_out")(head);
  };
}

SchemeWeights weights_of(std::int64_t heads, std::int64_t hidden, std::int64_t depth) {
  SchemeWeights weights;
  weights.emplace("w_in", testing::drawn({hidden}, 1));
  weights.emplace("b_in", testing::drawn({hidden}, 2));
  weights.emplace("w_hidden", testing::drawn({depth - 1, hidden, hidden}, 3));
  weights.emplace("b_hidden", testing::drawn({depth - 1, hidden}, 4));
  weights.emplace("w_out", testing::drawn({heads, hidden}, 5));
  weights.emplace("b_out", testing::drawn({heads}, 6, 3, 4));  // no bias near 0
  return weights;
}

// One unit in each layer, all weights 1 and biases 0: silu(silu(query - key)).
TEST(DynamicPositionBias, OfOneUnitIsSiluTwice) {
  const auto one = [](const Shape& shape, double value) {
    Tensor<double> x(shape);
    x.data()[0] = value;
    return x;
  };
  const DynamicPositionBiasWeights weights{one({1}, 1),    one({1}, 0),    one({1, 1, 1}, 1),
                                           one({1, 1}, 0), one({1, 1}, 1), one({1}, 0)};
  const DistanceBias bias = dynamic_position_bias({}, weights, 3);
  EXPECT_EQ(bias.origin, 2);
  // silu(2) = 1.7615942, of which silu is 1.5033607; silu(-2) = -0.2384058, silu(-0.2384058) =
  // -0.1050607.
  EXPECT_NEAR(bias.values(0, 0), 1.5033607, 2e-7);
  EXPECT_EQ(bias.values(0, 2), 0);
  EXPECT_NEAR(bias.values(0, 4), -0.1050607, 2e-7);
}

TEST(DynamicPositionBias, IsTheNetworkOfTheDistanceWithItsGradients) {
  for (const bool log_distance : {false, true}) {
    for (const std::int64_t depth : {2, 4}) {
      testing::Asked asked(6, 2,
                           {{"log_distance", log_distance ? "yes" : "no"},
                            {"hidden", "3"},
                            {"depth", std::to_string(depth)}});
      const SchemeWeights weights = weights_of(2, 3, depth);
      asked.request.weights = &weights;
      testing::expect_formula("dynamic_position_bias", asked.request, plain(log_distance));
      testing::expect_gradients("dynamic_position_bias", asked.request, weights,
                                plain(log_distance));
    }
  }
}

TEST(DynamicPositionBias, BeginsAsTorchsLayersDo) {
  const testing::Asked asked(3, 2, {{"hidden", "16"}, {"depth", "3"}});
  const SchemeWeights weights = find_scheme("dynamic_position_bias").initial_weights(asked.request);
  for (const auto& [name, values] : weights) {
    const double end = name == "w_in" || name == "b_in" ? 1 : 0.25;
    for (const double x : values.span()) EXPECT_LE(std::abs(x), end) << name;
  }
  EXPECT_EQ(weights.at("w_hidden").shape(), Shape({2, 16, 16}));
}

TEST(DynamicPositionBias, NamesTheArgumentAtFault) {
  const auto refusal = [](const char* name, const char* value) {
    return testing::refusal("dynamic_position_bias", {{name, value}});
  };
  EXPECT_EQ(refusal("hidden", "0"), "[dynamic_position_bias.hidden] must be 1 .. 4096, got 0");
  EXPECT_THAT(refusal("depth", "1"), HasSubstr("[dynamic_position_bias.depth] must be 2 .. 64"));
  EXPECT_THAT(refusal("log_distance", "perhaps"), HasSubstr("must be yes or no"));
  EXPECT_THAT(testing::refusal("dynamic_position_bias", {}, 0), HasSubstr("heads]"));
  const auto made = [](const std::string& name, Tensor<double> instead, std::int64_t length = 3) {
    SchemeWeights w = weights_of(2, 3, 2);
    if (!name.empty()) w.insert_or_assign(name, std::move(instead));
    const DynamicPositionBiasWeights weights{w.at("w_in").clone(),     w.at("b_in").clone(),
                                             w.at("w_hidden").clone(), w.at("b_hidden").clone(),
                                             w.at("w_out").clone(),    w.at("b_out").clone()};
    return error_of([&] { dynamic_position_bias({}, weights, length); });
  };
  EXPECT_EQ(made("", {}), "no error");
  EXPECT_THAT(made("", {}, 0), HasSubstr("[dynamic_position_bias.length]"));
  for (const char* name : {"w_in", "b_in", "w_hidden", "b_hidden", "w_out", "b_out"}) {
    EXPECT_THAT(made(name, Tensor<double>({7})),
                HasSubstr(std::string("[dynamic_position_bias.") + name + "] must be ["));
  }
  EXPECT_THAT(made("w_out", Tensor<double>({0, 3})), HasSubstr("must have at least one unit"));
  Tensor<double> bad({2});
  bad(1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(made("b_out", std::move(bad)), "[dynamic_position_bias.b_out] must be finite");
  Tensor<double> huge({2, 3});
  for (double& x : huge.span()) x = 1e308;
  Tensor<double> far({3});
  for (double& x : far.span()) x = 1e308;
  EXPECT_EQ(made("w_in", std::move(far)),
            "[dynamic_position_bias] must have weights that give finite biases");
  EXPECT_THAT(error_of([] {
                const testing::Asked asked(3, 2, {{"hidden", "4"}});
                find_scheme("dynamic_position_bias").backward(asked.request, Tensor<double>({4}));
              }),
              HasSubstr("[dynamic_position_bias.gradient]"));
}

}  // namespace
}  // namespace sextant::dynamic_position_bias_test
