// AdamW against the textbook in float64.
#include "sextant/training/adamw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/random.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr double kUnitRoundoff = 0x1p-24;  // half a unit in the last place of float32, relative

// A matrix that decays and a vector that does not, with their gradients.
struct Two {
  Tensor<float> matrix, vector;

  explicit Two(std::int64_t rows = 3, std::int64_t columns = 5, std::int64_t length = 7)
      : matrix({rows, columns}), vector({length}) {}
  Parameters<float> list() { return {{"matrix", &matrix, true}, {"vector", &vector, false}}; }
  // |value| in [0.5, 1), either sign.
  void fill(NumpyRandom& random) {
    for (const auto& parameter : list()) {
      for (float& value : parameter.tensor->span()) {
        const double size = 0.5 + random.uniform() / 2;
        value = static_cast<float>(random.uniform() < 0.5 ? -size : size);
      }
    }
  }
};

std::vector<float> values_of(const Parameters<float>& list) {
  std::vector<float> values;
  for (const auto& parameter : list) {
    values.insert(values.end(), parameter.tensor->span().begin(), parameter.tensor->span().end());
  }
  return values;
}

TEST(AdamW, FirstStepGoesAgainstTheSignOfTheGradient) {
  Two weights, gradients;
  NumpyRandom random(1);
  weights.fill(random);
  gradients.fill(random);
  const std::vector<float> before = values_of(weights.list());
  const std::vector<float> g = values_of(gradients.list());
  AdamW optimiser(weights.list(), {.weight_decay = 0.5});
  optimiser.step(weights.list(), gradients.list(), 0.01);
  const std::vector<float> after = values_of(weights.list());
  for (std::size_t i = 0; i < before.size(); ++i) {
    // With m = (1 - beta1) g and v = (1 - beta2) g^2 the step is g / (|g| + epsilon).
    const double decay = i < 15 ? 0.5 : 0;
    const double p = before[i], x = g[i];
    const double wanted = p * (1 - 0.01 * decay) - 0.01 * x / (std::abs(x) + 1e-8);
    // Two factors and two sums with p, at most 1, and about ten roundings of the step, 0.01.
    EXPECT_NEAR(after[i], wanted, 4 * kUnitRoundoff + 0.01 * 12 * kUnitRoundoff) << i;
  }
  EXPECT_EQ(optimiser.steps(), 1);
}

// Loshchilov and Hutter 2019, algorithm 2, line by line.
struct Textbook {
  std::vector<double> p, m, v;
  double beta1, beta2, epsilon;
  int t = 0;
  void step(const std::vector<double>& g, double rate, const std::vector<double>& decay) {
    ++t;
    for (std::size_t i = 0; i < p.size(); ++i) {
      m[i] = beta1 * m[i] + (1 - beta1) * g[i];
      v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
      const double mean = m[i] / (1 - std::pow(beta1, t));
      const double square = v[i] / (1 - std::pow(beta2, t));
      p[i] -= rate * (mean / (std::sqrt(square) + epsilon) + decay[i] * p[i]);
    }
  }
};

TEST(AdamW, FollowsTheTextbook) {
  Two weights, gradients;
  NumpyRandom random(2);
  weights.fill(random);
  const std::vector<float> first = values_of(weights.list());
  const std::size_t count = first.size();
  Textbook textbook{.p = {first.begin(), first.end()},
                    .m = std::vector<double>(count),
                    .v = std::vector<double>(count),
                    .beta1 = 0.9,
                    .beta2 = 0.98,
                    .epsilon = 1e-9};
  std::vector<double> decay(count);
  for (std::size_t i = 0; i < 15; ++i) decay[i] = 0.1;
  AdamW optimiser(weights.list(), {.beta2 = 0.98, .epsilon = 1e-9, .weight_decay = 0.1});
  double allowed = 0;
  for (int t = 1; t <= 100; ++t) {
    gradients.fill(random);
    const double rate = 0.001 * t;
    const std::vector<float> g = values_of(gradients.list());
    optimiser.step(weights.list(), gradients.list(), rate);
    textbook.step({g.begin(), g.end()}, rate, decay);
    // Gradients are 0.5 .. 1, so m / (1 - beta1^t) is at most 1 and sqrt(v / ..) at least 0.5. m
    // collects at most 3.1 units a step (a factor, a product, a sum; a tenth for the gradient's
    // factor), of which 1 / (1 - beta1) = 10 steps are kept; v at most 4 t + 4 relative ones, the
    // root half of them; ten more for the rest. p, at most 8 here, is rounded twice and its factor
    // once.
    allowed += rate * (2 * 31 + 2 * (2 * t + 2) + 2 * 10) * kUnitRoundoff + 3 * 8 * kUnitRoundoff;
    const std::vector<float> p = values_of(weights.list());
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_LT(std::abs(textbook.p[i]), 8);
      ASSERT_NEAR(p[i], textbook.p[i], allowed) << "step " << t << ", element " << i;
    }
  }
}

TEST(AdamW, ReturnsTheNormOfAllGradientsAndClipsIt) {
  Two weights(1, 1, 1), gradients(1, 1, 1);
  gradients.matrix(0, 0) = 3e20F;  // squares leave the range of float32
  gradients.vector(0) = -4e20F;
  AdamW clipped(weights.list(), {.beta1 = 0, .clip_norm = 2});
  EXPECT_NEAR(clipped.step(weights.list(), gradients.list(), 0), 5e20, 5e20 * kUnitRoundoff);
  // beta1 = 0: m is the clipped gradient, after the roundings of gradient, factor and product.
  const auto state = clipped.state();
  EXPECT_NEAR((*state[0].tensor)(0, 0), 1.2, 1.2 * 4 * kUnitRoundoff);
  EXPECT_NEAR((*state[1].tensor)(0), -1.6, 1.6 * 4 * kUnitRoundoff);

  gradients.matrix(0, 0) = 0.75F;
  gradients.vector(0) = 1;
  AdamW within(weights.list(), {.beta1 = 0, .clip_norm = 1.25});
  EXPECT_EQ(within.step(weights.list(), gradients.list(), 0), 1.25);
  EXPECT_EQ((*within.state()[0].tensor)(0, 0), 0.75F) << "a norm at the limit is left alone";
}

TEST(AdamW, ChangesNothingWhenAGradientIsNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Two weights, gradients;
    NumpyRandom random(3);
    weights.fill(random);
    gradients.fill(random);
    AdamW optimiser(weights.list());
    optimiser.step(weights.list(), gradients.list(), 0.1);
    const auto before = values_of(weights.list());
    const auto state = values_of(optimiser.state());
    gradients.fill(random);
    gradients.vector(6) = bad;
    EXPECT_FALSE(std::isfinite(optimiser.step(weights.list(), gradients.list(), 0.1)));
    EXPECT_EQ(values_of(weights.list()), before);
    EXPECT_GE(std::abs(gradients.vector(0)), 0.5F) << "gradients stay as well";
    EXPECT_EQ(values_of(optimiser.state()), state);
    EXPECT_EQ(optimiser.steps(), 1);
  }
}

TEST(AdamW, LeavesGradientsAtZero) {
  Two weights(50, 1001, 12345), gradients(50, 1001, 12345);
  NumpyRandom random(6);
  gradients.fill(random);
  AdamW optimiser(weights.list());
  optimiser.step(weights.list(), gradients.list(), 0.1, 2);
  EXPECT_THAT(values_of(gradients.list()), ::testing::Each(0.0F));
}

TEST(AdamW, GivesTheSameBitsWithAnyThreads) {
  std::vector<float> one;
  double one_norm = 0;
  for (const int threads : {1, 2, 3, 8}) {
    Two weights(50, 1001, 12345), gradients(50, 1001, 12345);  // several blocks, uneven ends
    NumpyRandom random(4);
    weights.fill(random);
    AdamW optimiser(weights.list(), {.weight_decay = 0.01, .clip_norm = 1});
    double norm = 0;
    for (int t = 0; t < 3; ++t) {
      gradients.fill(random);
      norm = optimiser.step(weights.list(), gradients.list(), 0.01, threads);
    }
    if (threads == 1) {
      one = values_of(weights.list());
      one_norm = norm;
    }
    EXPECT_EQ(values_of(weights.list()), one) << threads;
    EXPECT_EQ(norm, one_norm) << threads;
  }
}

TEST(AdamW, GoesOnFromItsState) {
  Two weights, gradients;
  NumpyRandom random(5);
  weights.fill(random);
  gradients.fill(random);
  AdamW straight(weights.list());
  straight.step(weights.list(), gradients.list(), 0.1);
  Two copy;
  copy.matrix = weights.matrix.clone();
  copy.vector = weights.vector.clone();
  AdamW resumed(copy.list());
  const auto from = straight.state();
  const auto to = resumed.state();
  ASSERT_EQ(from.size(), 4U);
  EXPECT_EQ(from[0].name, "m.matrix");
  EXPECT_EQ(from[3].name, "v.vector");
  for (std::size_t i = 0; i < from.size(); ++i) *to[i].tensor = from[i].tensor->clone();
  resumed.set_steps(straight.steps());
  gradients.fill(random);
  Two same;
  same.matrix = gradients.matrix.clone();
  same.vector = gradients.vector.clone();
  straight.step(weights.list(), gradients.list(), 0.1);
  resumed.step(copy.list(), same.list(), 0.1);
  EXPECT_EQ(values_of(copy.list()), values_of(weights.list()));
}

TEST(AdamW, RefusesWhatIsOutOfRange) {
  Two weights, gradients;
  const auto refuses = [&](const OptimiserOptions& options, const char* message) {
    EXPECT_THAT([&] { AdamW(weights.list(), options); }, ThrowsMessage<Error>(message));
  };
  refuses({.beta1 = 1}, "[adamw.beta1] must be at least 0 and below 1, got 1");
  refuses({.beta2 = -0.5}, "[adamw.beta2] must be at least 0 and below 1, got -0.5");
  refuses({.epsilon = 0}, "[adamw.epsilon] must be finite and at least 1e-30, got 0");
  refuses({.weight_decay = -1}, "[adamw.weight_decay] must be finite and at least 0, got -1");
  refuses({.clip_norm = NAN}, "[adamw.clip_norm] must be finite and at least 0, got nan");

  AdamW optimiser(weights.list());
  EXPECT_THAT([&] { optimiser.step(weights.list(), gradients.list(), NAN); },
              ThrowsMessage<Error>("[adamw.learning_rate] must be finite and at least 0, got nan"));
  EXPECT_THROW(optimiser.step(weights.list(), gradients.list(), 1, -1), Error);
  EXPECT_THAT(
      [&] { optimiser.step(weights.list(), {}, 1); },
      ThrowsMessage<Error>("[adamw.gradients] must be the 2 tensors it was made for, got 0"));
  Two other(3, 6);
  EXPECT_THAT([&] { optimiser.step(other.list(), gradients.list(), 1); },
              ThrowsMessage<Error>("[adamw.parameters] must have matrix [3, 5] at place 0, got "
                                   "matrix [3, 6]"));
  auto renamed = gradients.list();
  renamed[1].name = "other";
  EXPECT_THAT([&] { optimiser.step(weights.list(), renamed, 1); },
              ThrowsMessage<Error>(HasSubstr("got other [7]")));
  EXPECT_THROW(optimiser.set_steps(-1), Error);
}

}  // namespace
}  // namespace sextant
