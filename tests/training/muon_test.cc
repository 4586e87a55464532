// Muon against its listing in float64, and AdamW for what is no hidden matrix.
#include "sextant/training/muon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reference/plain_muon.h"
#include "reference/rounding_error.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"

namespace sextant {
namespace muon_test {
namespace {

using reference::PlainMatrix;
using reference::RoundingError;
using ::testing::ThrowsMessage;

constexpr double kUnitRoundoff = 0x1p-24;  // half a unit in the last place of float32, relative

void fill(Tensor<float>& tensor, NumpyRandom& random) {
  for (float& value : tensor.span()) value = static_cast<float>(random.normal());
}

PlainMatrix<RoundingError> plain(const Tensor<float>& tensor) {
  PlainMatrix<RoundingError> matrix{static_cast<std::size_t>(tensor.size(0)),
                                    static_cast<std::size_t>(tensor.size(1))};
  for (std::size_t i = 0; i < matrix.values.size(); ++i) {
    matrix.values[i] = RoundingError(tensor.data()[i]);
  }
  return matrix;
}

// Five steps. The reference estimates the standard deviation of the errors of any float32
// computation of the formula; 8 of them, because the library adds in another order, and because
// errors that are used twice are not independent.
TEST(Muon, FollowsItsListing) {
  for (const Shape& shape : {Shape{5, 7}, Shape{7, 5}, Shape{6, 6}, Shape{2, 33}, Shape{48, 20}}) {
    SCOPED_TRACE(shape.to_string());
    Tensor<float> weight(shape), gradient(shape);
    NumpyRandom random(1);
    fill(weight, random);
    auto p = plain(weight);
    PlainMatrix<RoundingError> mean{p.rows, p.columns};
    Muon optimiser({{"w", &weight, true}}, {.momentum = 0.9, .weight_decay = 0.1});
    for (int step = 1; step <= 5; ++step) {
      fill(gradient, random);
      const double rate = 0.01 * step;
      reference::muon_step(p, mean, plain(gradient), rate, 0.9, 0.1);
      optimiser.step({{"w", &weight, true}}, {{"w", &gradient, true}}, rate);
      for (std::size_t i = 0; i < p.values.size(); ++i) {
        ASSERT_NEAR(weight.data()[i], p.values[i].value(),
                    8 * kUnitRoundoff * p.values[i].deviation())
            << "step " << step << ", element " << i;
      }
    }
  }
}

// A gradient with one entry in each row and column has these as singular values, so each is a
// number that the polynomial is applied to. It multiplies errors by at most 4 in each of its five
// steps, which has some eight roundings.
TEST(Muon, AppliesItsPolynomialToSingularValues) {
  Tensor<float> weight({3, 5}), gradient({3, 5});
  gradient(0, 2) = 3;
  gradient(1, 0) = -4;
  gradient(2, 4) = 12;  // 3, 4, 12: the norm is 13
  const auto wanted = [](double x) {
    for (int step = 0; step < 5; ++step) {
      x = 3.4445 * x - 4.7750 * std::pow(x, 3) + 2.0315 * std::pow(x, 5);
    }
    return -0.5 * 0.2 * std::sqrt(5) * x;
  };
  Muon optimiser({{"w", &weight, true}});
  optimiser.step({{"w", &weight, true}}, {{"w", &gradient, true}}, 0.5);
  const double tolerance = 1024 * 8 * kUnitRoundoff;
  EXPECT_NEAR(weight(0, 2), wanted(3.0 / 13), tolerance);
  EXPECT_NEAR(weight(1, 0), wanted(-4.0 / 13), tolerance);
  EXPECT_NEAR(weight(2, 4), wanted(12.0 / 13), tolerance);
  EXPECT_EQ(weight(0, 0), 0);
  EXPECT_EQ(weight(2, 2), 0);
}

TEST(Muon, IgnoresTheLengthOfAGradientButNotAZero) {
  Tensor<float> weight({4, 6}), gradient({4, 6}), same({4, 6});
  NumpyRandom random(2);
  Muon optimiser({{"w", &weight, true}}, {.weight_decay = 0.5});
  for (float& value : weight.span()) value = 2;
  optimiser.step({{"w", &weight, true}}, {{"w", &gradient, true}}, 0.5);
  EXPECT_THAT(weight.span(), ::testing::Each(1.5F)) << "decay alone";

  fill(gradient, random);
  for (std::int64_t i = 0; i < gradient.count(); ++i) same.data()[i] = 1024 * gradient.data()[i];
  Tensor<float> other = weight.clone();
  Muon clipped({{"w", &other, true}}, {.weight_decay = 0.5, .clip_norm = 1});
  optimiser.step({{"w", &weight, true}}, {{"w", &same, true}}, 0.5);
  clipped.step({{"w", &other, true}}, {{"w", &gradient, true}}, 0.5);
  for (std::int64_t i = 0; i < weight.count(); ++i) {
    // The epsilon of 1e-7 to a norm of about 0.1 is a millionth, times 4^5 as above.
    EXPECT_NEAR(weight.data()[i], other.data()[i], 1024 * 2e-6);
  }
}

struct Model {
  Tensor<float> matrix{{4, 6}}, vector{{5}}, table{{7, 4}}, output{{7, 4}}, row{{1, 4}};
  Parameters<float> list() {
    return {{"vector", &vector, false},
            {"matrix", &matrix, true},
            {"table", &table, false},
            {"output.weight", &output, true},
            {"gate.weight", &row, true}};
  }
  void fill_all(NumpyRandom& random) {
    for (const auto& each : list()) fill(*each.tensor, random);
  }
};

std::vector<float> values_of(const Parameters<float>& list) {
  std::vector<float> values;
  for (const auto& each : list) {
    values.insert(values.end(), each.tensor->span().begin(), each.tensor->span().end());
  }
  return values;
}

TEST(Muon, LeavesAllButHiddenMatricesToAdamW) {
  const OptimiserOptions options{.beta2 = 0.98, .weight_decay = 0.1, .clip_norm = 1};
  Model by_muon, by_adamw, gradient;
  NumpyRandom first(3), second(3), random(4);
  by_muon.fill_all(first);
  by_adamw.fill_all(second);
  Muon muon(by_muon.list(), options);
  AdamW adamw(by_adamw.list(), options);
  for (int step = 0; step < 3; ++step) {
    gradient.fill_all(random);
    const std::vector<float> same = values_of(gradient.list());
    const double norm = muon.step(by_muon.list(), gradient.list(), 0.01);
    EXPECT_THAT(values_of(gradient.list()), ::testing::Each(0.0F));
    auto at = same.begin();
    for (const auto& each : gradient.list()) {
      for (float& value : each.tensor->span()) value = *at++;
    }
    EXPECT_EQ(adamw.step(by_adamw.list(), gradient.list(), 0.01), norm);
  }
  const auto a = by_muon.list(), b = by_adamw.list();
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(values_of({a[i]}) == values_of({b[i]}), a[i].name != "matrix") << a[i].name;
  }
  std::vector<std::string> names;
  for (const auto& each : muon.state()) names.push_back(each.name);
  EXPECT_THAT(names, ::testing::ElementsAre("m.matrix", "m.vector", "m.table", "m.output.weight",
                                            "m.gate.weight", "v.vector", "v.table",
                                            "v.output.weight", "v.gate.weight"));
}

TEST(Muon, GivesTheSameBitsWithAnyThreads) {
  std::vector<float> one;
  for (const int threads : {1, 2, 5}) {
    Tensor<float> weight({130, 301}), gradient({130, 301});
    NumpyRandom random(5);
    fill(weight, random);
    Muon optimiser({{"w", &weight, true}});
    for (int step = 0; step < 2; ++step) {
      fill(gradient, random);
      optimiser.step({{"w", &weight, true}}, {{"w", &gradient, true}}, 0.01, threads);
    }
    if (threads == 1) one = values_of({{"w", &weight, true}});
    EXPECT_EQ(values_of({{"w", &weight, true}}), one) << threads;
  }
}

TEST(Muon, IsMadeByItsName) {
  Tensor<float> weight({2, 3});
  const Parameters<float> list{{"w", &weight, true}};
  const auto made = make_optimiser(list, {.method = OptimiserMethod::muon});
  EXPECT_NE(dynamic_cast<Muon*>(made.get()), nullptr);
  EXPECT_EQ(made->options().method, OptimiserMethod::muon);
  EXPECT_NE(dynamic_cast<AdamW*>(make_optimiser(list).get()), nullptr);
  EXPECT_EQ(Muon(list).options().method, OptimiserMethod::muon);
  EXPECT_THAT([&] { make_optimiser(list, {.method = static_cast<OptimiserMethod>(9)}); },
              ThrowsMessage<Error>("[optimiser.method] must be one of the named values, got 9"));
  EXPECT_THAT([&] { Muon(list, {.momentum = 1}); },
              ThrowsMessage<Error>("[muon.momentum] must be at least 0 and below 1, got 1"));
  EXPECT_THAT(
      [&] { made->step({}, list, 1); },
      ThrowsMessage<Error>("[muon.parameters] must be the 1 tensors it was made for, got 0"));
}

}  // namespace
}  // namespace muon_test
}  // namespace sextant
