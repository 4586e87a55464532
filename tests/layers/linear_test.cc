// Linear maps against sums written out.
#include "sextant/layers/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "layers/naive.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

template <class T>
Tensor<T> filled(const Shape& shape, std::initializer_list<T> values) {
  Tensor<T> tensor(shape);
  std::copy(values.begin(), values.end(), tensor.data());
  return tensor;
}

TEST(Linear, MultipliesByTheTransposedWeightAndAddsTheBias) {
  Linear<double> map;
  map.weight = filled<double>({2, 3}, {1, 2, 3, -4, 5, 6});
  map.bias = filled<double>({2}, {100, 200});
  const Tensor<double> y = map(filled<double>({2, 3}, {1, 10, 100, 2, 0, -1}));
  ASSERT_EQ(y.shape(), Shape({2, 2}));
  EXPECT_EQ(y(0, 0), 1 + 20 + 300 + 100);
  EXPECT_EQ(y(0, 1), -4 + 50 + 600 + 200);
  EXPECT_EQ(y(1, 0), 2 - 3 + 100);
  EXPECT_EQ(y(1, 1), -8 - 6 + 200);
}

TEST(Linear, WorksWithoutABias) {
  Linear<float> map;
  map.weight = filled<float>({1, 2}, {2, 3});
  EXPECT_EQ(map(filled<float>({1, 2}, {5, 7}))(0, 0), 31);
}

TEST(Linear, ReadsAnyStrides) {
  NumpyRandom random(1);
  const auto map = Linear<double>::random(4, 5, random);
  Tensor<double> columns({4, 3});
  for (double& value : columns.span()) value = random.normal();
  const View<const double> x = std::as_const(columns).view().transpose(0, 1);
  const Tensor<double> strided = map(x), packed = map(copy_of(x));
  EXPECT_TRUE(std::ranges::equal(strided.span(), packed.span()));
}

TEST(Linear, SumsFloatsInDouble) {
  Linear<float> map;
  map.weight = filled<float>({1, 3}, {1, 1, 1});
  EXPECT_EQ(map(filled<float>({1, 3}, {1e8f, 1, -1e8f}))(0, 0), 1);  // 0 when summed in float32
}

TEST(Linear, IsWithinTheRoundingOfASumAtWidth512) {
  NumpyRandom random(2);
  const auto map = Linear<double>::random(512, 512, random);
  Tensor<double> x({3, 512});
  for (double& value : x.span()) value = random.uniform();
  // |w| <= 1/sqrt(512), |x| <= 1: the sum of magnitudes is <= sqrt(512) + 1, and 512 + 1 roundings
  // of 2^-53 of it.
  const double bound = 513 * 0x1p-53 * (std::sqrt(512.0) + 1);
  EXPECT_LE(naive::distance<double>(map(x), naive::apply(map, naive::matrix<double>(x))), bound);
}

TEST(Linear, GivesARowTheSameBitsWhereverItStands) {
  NumpyRandom random(3);
  const auto map = Linear<float>::random(37, 19, random);
  Tensor<float> x({5, 37});
  for (float& value : x.span()) value = static_cast<float>(random.normal());
  const Tensor<float> all = map(x);
  for (std::int64_t row = 0; row < 5; ++row) {
    const Tensor<float> alone = map(x.view().narrow(0, row, 1));
    for (std::int64_t i = 0; i < 19; ++i) EXPECT_EQ(alone(0, i), all(row, i));
  }
}

TEST(Linear, DrawsWeightThenBiasRowByRowWithinOneOverRootIn) {
  NumpyRandom random(4), same(4);
  const auto map = Linear<double>::random(9, 2, random);
  ASSERT_EQ(map.weight.shape(), Shape({2, 9}));
  ASSERT_EQ(map.bias.shape(), Shape({2}));
  for (const double weight : map.weight.span()) {
    EXPECT_EQ(weight, (2 * same.uniform() - 1) * (1.0 / 3));
  }
  for (const double bias : map.bias.span()) EXPECT_EQ(bias, (2 * same.uniform() - 1) * (1.0 / 3));
  NumpyRandom third(4);
  EXPECT_EQ(Linear<double>::random(9, 2, third, false).bias.count(), 0);
}

TEST(Linear, RefusesShapesThatDoNotFit) {
  NumpyRandom random(5);
  auto map = Linear<float>::random(3, 2, random);
  EXPECT_THROW(map(Tensor<float>({2, 4})), Error);
  EXPECT_THROW(map(Tensor<float>({3})), Error);
  map.bias = Tensor<float>({3});
  EXPECT_THROW(map(Tensor<float>({2, 3})), Error);
  EXPECT_THROW(Linear<float>()(Tensor<float>({2, 3})), Error);
  EXPECT_THROW(Linear<float>::random(0, 2, random), Error);
  EXPECT_THROW(Linear<float>::random(2, 0, random), Error);
}

}  // namespace
}  // namespace sextant
