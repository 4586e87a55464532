// Residual attention blocks: cross, global and causal.
#include "sextant/lessons/attention_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/layers/embedding.h"

namespace sextant {
namespace {

Tensor<double> numbers(const Shape& shape, std::uint32_t seed) {
  NumpyRandom random(seed);
  Tensor<double> x(shape);
  for (double& value : x.span()) value = random.normal();
  return x;
}

// (v - mean) / sqrt(variance + 1e-5), from the paper of layer normalisation.
std::vector<double> normalised(std::vector<double> v) {
  double mean = 0, variance = 0;
  for (const double x : v) mean += x / static_cast<double>(v.size());
  for (const double x : v) variance += (x - mean) * (x - mean) / static_cast<double>(v.size());
  for (double& x : v) x = (x - mean) / std::sqrt(variance + 1e-5);
  return v;
}

TEST(AttentionBlock, NormalisesTheSumOfInputAndAttention) {
  const Tensor<double> x = numbers({2, 5, 8}, 1), context = numbers({2, 3, 8}, 2);
  for (const auto kind :
       {AttentionBlockKind::cross, AttentionBlockKind::global, AttentionBlockKind::causal}) {
    NumpyRandom random(3);
    const AttentionBlock<double> block(kind, 8, 2, random);
    const bool cross = kind == AttentionBlockKind::cross;
    const auto result = block(x, cross ? context.view() : View<const double>());
    ASSERT_EQ(result.output.shape(), x.shape());
    ASSERT_EQ(result.weights.shape(), Shape({2, 2, 5, cross ? 3 : 5}));
    AttentionOptions<double> options;
    if (kind == AttentionBlockKind::causal) options.causal = Causal::top_left;
    for (std::int64_t b = 0; b < 2; ++b) {
      const auto rows = x.view().select(0, b);
      const auto wanted =
          block.attention(rows, cross ? context.view().select(0, b) : rows, options);
      for (std::int64_t row = 0; row < 5; ++row) {
        std::vector<double> sum;
        for (std::int64_t i = 0; i < 8; ++i) sum.push_back(rows(row, i) + wanted.output(row, i));
        sum = normalised(sum);
        for (std::int64_t i = 0; i < 8; ++i) {
          // Sums of 8 numbers below 8, a root and a quotient.
          EXPECT_NEAR(result.output(b, row, i), sum[static_cast<std::size_t>(i)], 64 * 0x1p-52);
        }
        for (std::int64_t key = 0; key < (cross ? 3 : 5); ++key) {
          EXPECT_EQ(result.weights(b, 1, row, key), wanted.weights(1, row, key));
          if (kind == AttentionBlockKind::causal && key > row) {
            EXPECT_EQ(result.weights(b, 1, row, key), 0);
          }
        }
      }
    }
  }
}

TEST(AttentionBlock, PaddingTakesNoPart) {
  const std::vector<std::int64_t> tokens{4, 2, 0, 0, 3, 1, 5, 0};
  const Tensor<bool> mask = padding_mask(View<const std::int64_t>(tokens.data(), {2, 4}), 0);
  Tensor<double> x = numbers({2, 4, 8}, 4);
  NumpyRandom random(5);
  const AttentionBlock<double> block(AttentionBlockKind::global, 8, 4, random);
  const auto before = block(x, {}, mask);
  for (std::int64_t i = 0; i < 8; ++i) x(0, 2, i) = x(0, 3, i) = x(1, 3, i) = 7;
  const auto after = block(x, {}, mask);
  for (std::int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(before.output(0, 1, i), after.output(0, 1, i));
    EXPECT_EQ(before.output(1, 2, i), after.output(1, 2, i));
  }
  EXPECT_EQ(after.weights(0, 0, 0, 2) + after.weights(0, 0, 0, 3) + after.weights(1, 3, 0, 3), 0);
  EXPECT_GT(after.weights(1, 3, 0, 2), 0);
}

TEST(AttentionBlock, RefusesWhatDoesNotFit) {
  NumpyRandom random(6);
  const AttentionBlock<float> cross(AttentionBlockKind::cross, 8, 2, random),
      global(AttentionBlockKind::global, 8, 2, random);
  const Tensor<float> x(Shape{2, 3, 8}), other(Shape{1, 3, 8}), narrow(Shape{2, 3, 4});
  const Tensor<bool> mask(Shape{2, 1, 1, 4});
  EXPECT_THROW(cross(x), Error);
  EXPECT_THROW(cross(x, other), Error);
  EXPECT_THROW(cross(x, narrow), Error);
  EXPECT_THROW(global(x, x), Error);
  EXPECT_THROW(global(narrow), Error);
  EXPECT_THROW(global(x, {}, mask), Error);
  EXPECT_THROW(AttentionBlock<float>(AttentionBlockKind::global, 8, 3, random), Error);
}

}  // namespace
}  // namespace sextant
