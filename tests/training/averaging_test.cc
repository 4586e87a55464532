// The moving average of weights against float64.
#include "sextant/training/averaging_optimiser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/random.h"
#include "training/averaged_weights.h"

namespace sextant {
namespace averaging_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

struct Model {
  Tensor<float> matrix{{7, 5}}, vector{{3}};
  Parameters<float> list() { return {{"matrix", &matrix, true}, {"vector", &vector, false}}; }
  void fill(NumpyRandom& random) {
    for (const auto& each : list()) {
      for (float& value : each.tensor->span()) value = static_cast<float>(random.normal());
    }
  }
};

std::vector<float> values_of(const Parameters<float>& list) {
  std::vector<float> values;
  for (const auto& each : list) {
    values.insert(values.end(), each.tensor->span().begin(), each.tensor->span().end());
  }
  return values;
}

AveragingOptimiser averaging(Model& model, double decay, const OptimiserOptions& options = {}) {
  return {make_optimiser(model.list(), options), model.list(), decay};
}

std::vector<float> average_of(AveragingOptimiser& optimiser, Model& model) {
  optimiser.use_average(model.list());
  const std::vector<float> average = values_of(model.list());
  optimiser.use_weights(model.list());
  return average;
}

TEST(AveragingOptimiser, FollowsItsFormula) {
  for (const OptimiserMethod method : {OptimiserMethod::adamw, OptimiserMethod::muon}) {
    for (const double decay : {0.0, 0.3, 0.9, 0.999}) {  // the warm-up ends at 5, 82, never
      Model model, plain, gradient;
      NumpyRandom random(1), same(1);
      model.fill(random);
      plain.fill(same);
      const OptimiserOptions options{.method = method, .weight_decay = 0.1, .clip_norm = 5};
      AveragingOptimiser optimiser = averaging(model, decay, options);
      const auto alone = make_optimiser(plain.list(), options);
      std::vector<std::vector<float>> weights;
      for (int t = 1; t <= 120; ++t) {
        gradient.fill(random);
        optimiser.step(model.list(), gradient.list(), 0.01);
        EXPECT_THAT(values_of(gradient.list()), Each(0.0F));
        gradient.fill(same);
        alone->step(plain.list(), gradient.list(), 0.01);
        weights.push_back(values_of(model.list()));
        ASSERT_EQ(weights.back(), values_of(plain.list())) << "the steps are those of the method";
        const AveragedWeights wanted = averaged_weights(weights, decay);
        const std::vector<float> average = average_of(optimiser, model);
        for (std::size_t i = 0; i < average.size(); ++i) {
          ASSERT_NEAR(average[i], wanted.value[i], wanted.error[i])
              << "decay " << decay << ", step " << t << ", element " << i;
        }
        ASSERT_EQ(values_of(model.list()), weights.back());
      }
    }
  }
}

// Weights that are the number of the step: the average is the step less the mean age.
TEST(AveragingOptimiser, IsATenthOfTheStepsOldUntilItReachesItsDecay) {
  Model model, gradient;
  for (float& value : model.matrix.span()) value = 1e30F;  // of no importance
  AveragingOptimiser optimiser = averaging(model, 0.9);
  double age = 0;
  for (int t = 1; t <= 200; ++t) {
    for (const auto& each : model.list()) std::ranges::fill(each.tensor->span(), t);
    optimiser.step(model.list(), gradient.list(), 0);
    age = t <= 82 ? (t - 1) / 10.0 : 0.9 * (age + 1);
    for (const float value : average_of(optimiser, model)) {
      // The errors of ten steps are kept, each of at most seven roundings, as in
      // averaged_weights().
      ASSERT_NEAR(value, t - age, 10 * 7 * 200 * kFloatRoundoff) << t;
    }
  }
  EXPECT_NEAR(age, 9, 1e-4) << "decay / (1 - decay)";
}

TEST(AveragingOptimiser, StaysWhereTheWeightsAre) {
  Model model, gradient;
  NumpyRandom random(2);
  model.fill(random);
  const std::vector<float> same = values_of(model.list());
  AveragingOptimiser optimiser = averaging(model, 0.9999);
  EXPECT_EQ(average_of(optimiser, model), same) << "before the first step";
  for (int t = 0; t < 100; ++t) optimiser.step(model.list(), gradient.list(), 0);
  EXPECT_EQ(average_of(optimiser, model), same);
}

TEST(AveragingOptimiser, GivesTheSameBitsWithAnyThreads) {
  std::vector<float> one;
  for (const int threads : {1, 2, 5}) {
    Tensor<float> weight({130, 301}), gradient({130, 301});
    const Parameters<float> list{{"w", &weight, true}};
    NumpyRandom random(3);
    for (float& value : weight.span()) value = static_cast<float>(random.normal());
    AveragingOptimiser optimiser(make_optimiser(list), list, 0.9);
    for (int t = 0; t < 3; ++t) {
      for (float& value : gradient.span()) value = static_cast<float>(random.normal());
      optimiser.step(list, {{"w", &gradient, true}}, 0.01, threads);
    }
    optimiser.use_average(list);
    if (threads == 1) one = values_of(list);
    EXPECT_EQ(values_of(list), one) << threads;
  }
}

TEST(AveragingOptimiser, GoesOnFromTheStateOfTheAverage) {
  NumpyRandom random(4);
  Model model, other, gradient;
  model.fill(random);
  other.fill(random);
  AveragingOptimiser optimiser = averaging(model, 0.5), resumed = averaging(other, 0.5);
  const auto names = [](const Parameters<float>& list) {
    std::vector<std::string> all;
    for (const auto& each : list) all.push_back(each.name);
    return all;
  };
  EXPECT_THAT(names(optimiser.state()), ElementsAre("m.matrix", "m.vector", "v.matrix", "v.vector",
                                                    "average.matrix", "average.vector"));
  for (int t = 0; t < 20; ++t) {
    gradient.fill(random);
    optimiser.step(model.list(), gradient.list(), 0.01);
  }
  const std::vector<float> weights = values_of(model.list());
  optimiser.use_average(model.list());
  optimiser.use_average(model.list());  // once is enough
  EXPECT_NE(values_of(model.list()), weights);
  const Parameters<float> state = optimiser.state();
  EXPECT_EQ(names(state)[4], "weights.matrix");
  EXPECT_EQ(values_of({state[4], state[5]}), weights);

  resumed.use_average(other.list());
  const auto into = resumed.state();
  for (std::size_t i = 0; i < state.size(); ++i) *into[i].tensor = state[i].tensor->clone();
  other.matrix = model.matrix.clone();
  other.vector = model.vector.clone();
  resumed.set_steps(20);
  Model same;
  gradient.fill(random);
  same.matrix = gradient.matrix.clone();
  same.vector = gradient.vector.clone();
  for (auto [one, its, of] :
       {std::tuple{&optimiser, &model, &gradient}, {&resumed, &other, &same}}) {
    one->use_weights(its->list());
    one->use_weights(its->list());
    one->step(its->list(), of->list(), 0.01);
  }
  EXPECT_EQ(values_of(other.list()), values_of(model.list()));
  EXPECT_EQ(average_of(resumed, other), average_of(optimiser, model));
}

TEST(AveragingOptimiser, CountsTheStepsThatWereMadeBefore) {
  Model model, gradient;
  auto optimiser = make_optimiser(model.list());
  for (int t = 0; t < 10; ++t) optimiser->step(model.list(), gradient.list(), 0);
  AveragingOptimiser later(std::move(optimiser), model.list(), 0.99);
  EXPECT_EQ(later.steps(), 10);
  for (const auto& each : model.list()) std::ranges::fill(each.tensor->span(), 19.0F);
  later.step(model.list(), gradient.list(), 0);
  EXPECT_THAT(average_of(later, model), Each(::testing::FloatEq(9))) << "9 / 19 of the way";
}

TEST(AveragingOptimiser, RefusesWhatDoesNotFit) {
  Model model, gradient;
  const auto made = [&](double decay) { averaging(model, decay); };
  const std::string range = "[averaging_optimiser.decay] must be at least 0 and below 1, got ";
  EXPECT_THAT([&] { made(1); }, ThrowsMessage<Error>(range + "1"));
  EXPECT_THAT([&] { made(-0.5); }, ThrowsMessage<Error>(range + "-0.5"));
  EXPECT_THAT([&] { made(NAN); }, ThrowsMessage<Error>(range + "nan"));
  AveragingOptimiser optimiser = averaging(model, 0.5, {.method = OptimiserMethod::muon});
  EXPECT_EQ(optimiser.options().method, OptimiserMethod::muon);
  EXPECT_THAT(
      [&] { optimiser.use_average({}); },
      ThrowsMessage<Error>("[muon.parameters] must be the 2 tensors it was made for, got 0"));
  optimiser.use_average(model.list());
  EXPECT_THAT(
      [&] { optimiser.step(model.list(), gradient.list(), 1); },
      ThrowsMessage<Error>(
          "[averaging_optimiser.parameters] must be the weights in a step, got the average"));
  EXPECT_EQ(optimiser.steps(), 0);
  optimiser.use_weights(model.list());
  std::ranges::fill(model.vector.span(), 1.0F);
  gradient.vector(1) = std::numeric_limits<float>::infinity();
  optimiser.step(model.list(), gradient.list(), 1);
  EXPECT_THAT(average_of(optimiser, model), Each(0.0F)) << "a step that was not made";
}

}  // namespace
}  // namespace averaging_test
}  // namespace sextant
