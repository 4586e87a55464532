// The rounding bound holds, for the worst scores that float64 attention meets, and is not idle.
#include "layers/rounding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "layers/naive.h"
#include "sextant/core/random.h"

namespace sextant {
namespace {

Tensor<double> normal(const Shape& shape, double size, NumpyRandom& random) {
  Tensor<double> x(shape);
  for (double& value : x.span()) value = size * random.normal();
  return x;
}

View<const double> one_head(const Tensor<double>& x) {
  return View<const double>(x.data(), {1, 1, x.size(0), x.size(1)});
}

TEST(AttentionRounding, BoundsTheErrorAgainstLongDouble) {
  for (const double size : {0.1, 1.0, 4.0}) {
    NumpyRandom random(1);
    const Tensor<double> q = normal({20, 16}, size, random), k = normal({30, 16}, size, random);
    const Tensor<double> v = normal({30, 8}, 1, random);
    Tensor<double> out({20, 8});
    attention<double>(one_head(q), one_head(k), one_head(v),
                      View<double>(out.data(), {1, 1, 20, 8}));
    const naive::Matrix map =
        naive::weights(naive::matrix<double>(q), naive::matrix<double>(k), false);
    const double error = naive::distance<double>(out, naive::mix(map, naive::matrix<double>(v)));
    const double bound = attention_rounding(q, k, v, 0.25);
    EXPECT_LE(error, bound) << size;
    EXPECT_LT(bound, 1e-10) << size;
    EXPECT_GT(error, 0) << size;
  }
}

TEST(AttentionRounding, GrowsWithTheBias) {
  NumpyRandom random(2);
  const Tensor<double> x = normal({3, 4}, 1, random);
  DistanceBias bias;
  bias.values = Tensor<float>({1, 5});
  bias.origin = 2;
  const auto bound = [&] {
    const double added = largest_added(one_head(x), one_head(x), {.bias = &bias});
    return attention_rounding(x, x, x, 0.5, added);
  };
  const double without = attention_rounding(x, x, x, 0.5);
  EXPECT_EQ(bound(), without);
  bias.values(0, 0) = -INFINITY;  // hides: no rounding there
  EXPECT_EQ(bound(), without);
  bias.values(0, 1) = -1000;
  const double with = bound();
  EXPECT_GT(with, without);
  bias.slopes = {1000};
  EXPECT_GT(bound(), with);
}

TEST(LinearRounding, BoundsAMapOfInputsThatAreOff) {
  NumpyRandom random(3);
  const auto map = Linear<double>::random(16, 8, random);
  const Tensor<double> x = normal({5, 16}, 1, random);
  constexpr double kError = 1e-9;
  Tensor<double> off = x.clone();
  for (double& value : off.span()) value += random.uniform() < 0.5 ? kError : -kError;
  const double moved = naive::distance<double>(map(off), naive::matrix<double>(map(x)));
  const double bound = linear_rounding(map, largest_magnitude(off), kError);
  EXPECT_LE(moved, bound);
  EXPECT_GT(moved, bound / 100);
}

TEST(LastRowDifference, LooksAtTheLastRowsOnly) {
  Tensor<double> a({2, 2}), b({3, 2});
  a(0, 0) = 100;
  a(1, 1) = 5;
  b(2, 1) = 2;
  EXPECT_EQ(last_row_difference(a, b), 3);
  EXPECT_EQ(largest_magnitude(a), 100);
}

}  // namespace
}  // namespace sextant
