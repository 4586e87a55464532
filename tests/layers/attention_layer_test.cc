// Attention layers: what makes them self or cross attention.
#include "sextant/layers/attention_layer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gradient_checks.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

AttentionLayer<double> layer_of(bool cross) {
  NumpyRandom random(3);
  return AttentionLayer<double>({.width = 8, .heads = 2, .cross = cross}, random);
}

// Outputs, the output map's bias set to numbers that show.
AttentionLayer<double> cross_layer() {
  AttentionLayer<double> layer = layer_of(true);
  for (std::int64_t i = 0; i < 8; ++i) layer.out.bias(i) = 0.5 + static_cast<double>(i);
  return layer;
}

TEST(AttentionLayer, WithoutContextAttendsToNothing) {
  const AttentionLayer<double> layer = cross_layer();
  AttentionLayer<double> gradient = layer_of(true);
  set_to_zero(listed(gradient));
  const Tensor<double> x = random_tensor({5, 8}, 4), dy = random_tensor({5, 8}, 5);
  const std::int64_t segments[] = {0, 3, 5}, none[] = {0, 0, 0};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  Tensor<double> y({5, 8}), dx({5, 8});
  for (const View<const double>& context :
       {View<const double>(), View<const double>(nullptr, {0, 8})}) {
    const auto saved =
        layer.forward(x, context, {.segments = segments, .key_segments = none}, y, pass);
    for (std::int64_t row = 0; row < 5; ++row) {
      for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(y(row, i), layer.out.bias(i));
    }
    layer.backward(saved, dy, dx, {}, gradient, nullptr, pass);
    for (const double slope : dx.span()) EXPECT_EQ(slope, 0);
    for (const double slope : gradient.in.weight.span()) EXPECT_EQ(slope, 0);
    for (const double slope : gradient.out.weight.span()) EXPECT_EQ(slope, 0);
    EXPECT_EQ(layer.weights(saved, 0).shape(), Shape({2, 3, 0}));
  }
}

TEST(AttentionLayer, WithAnEmptySourceIsThatSourceAmongOthers) {
  const AttentionLayer<double> layer = cross_layer();
  const Tensor<double> x = random_tensor({5, 8}, 4), context = random_tensor({4, 8}, 5);
  const std::int64_t segments[] = {0, 3, 5}, key_segments[] = {0, 0, 4};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  Tensor<double> y({5, 8});
  layer.forward(x, context, {.segments = segments, .key_segments = key_segments}, y, pass);
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(y(row, i), layer.out.bias(i));
  }
  EXPECT_NE(y(3, 0), layer.out.bias(0));
}

TEST(AttentionLayer, RefusesAContextThatDoesNotFit) {
  const Tensor<double> x = random_tensor({5, 8}, 4), narrow = random_tensor({5, 4}, 4);
  const std::int64_t segments[] = {0, 5};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  Tensor<double> y({5, 8});
  EXPECT_THROW(layer_of(false).forward(x, x, {.segments = segments}, y, pass), Error);
  EXPECT_THROW(layer_of(true).forward(x, narrow, {.segments = segments}, y, pass), Error);
}

TEST(AttentionLayer, ScalesAndCapsItsScores) {
  NumpyRandom random(3);
  const AttentionLayer<double> layer({.width = 8, .heads = 2, .scale = 0.7, .softcap = 1.5},
                                     random);
  const Tensor<double> x = random_tensor({5, 8}, 4);
  const std::int64_t segments[] = {0, 5};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  Tensor<double> y({5, 8});
  const auto saved = layer.forward(x, {}, {.segments = segments}, y, pass);
  const Tensor<double> weights = layer.weights(saved, 0);
  for (std::int64_t head = 0; head < 2; ++head) {
    for (std::int64_t i = 0; i < 5; ++i) {
      std::vector<double> exponentials;
      double sum = 0;
      for (std::int64_t j = 0; j < 5; ++j) {
        double score = 0;
        for (std::int64_t c = 0; c < 4; ++c) {
          score += saved.q(0, head, i, c) * saved.k(0, head, j, c);
        }
        sum += exponentials.emplace_back(std::exp(1.5 * std::tanh(0.7 * score / 1.5)));
      }
      double mixed = 0;
      for (std::int64_t j = 0; j < 5; ++j) {
        const double weight = exponentials[static_cast<std::size_t>(j)] / sum;
        EXPECT_NEAR(weights(head, i, j), weight, 1e-12);
        mixed += weight * saved.v(0, head, j, 0);
      }
      EXPECT_NEAR(saved.mixed(0, head, i, 0), mixed, 1e-12);
    }
  }
}

}  // namespace
}  // namespace sextant
