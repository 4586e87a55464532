// Embeddings, positions added to them, and the padding mask at work.
#include "sextant/layers/embedding.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "sextant/attention/attention.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

Tensor<float> counting(const Shape& shape) {
  Tensor<float> tensor(shape);
  float next = 1;
  for (float& value : tensor.span()) value = next++;
  return tensor;
}

View<const std::int64_t> batch(const std::array<std::int64_t, 6>& indices) {
  return View<const std::int64_t>(indices.data(), {2, 3});
}

TEST(Embedding, LooksUpAndScalesRows) {
  const Embedding<float> embedding(counting({3, 2}));
  const std::array<std::int64_t, 3> indices{2, 0, 2};
  const Tensor<float> x = embedding(indices, 10);
  ASSERT_EQ(x.shape(), Shape({3, 2}));
  EXPECT_EQ(x(0, 0), 50);
  EXPECT_EQ(x(0, 1), 60);
  EXPECT_EQ(x(1, 0), 10);
  EXPECT_EQ(x(2, 1), 60);
  EXPECT_EQ(embedding(indices)(1, 1), 2);
}

TEST(Embedding, TakesBatchesOfAnyStrides) {
  const Embedding<float> embedding(counting({6, 2}));
  const std::array<std::int64_t, 6> indices{0, 1, 2, 3, 4, 5};
  const Tensor<float> rows = embedding(batch(indices)),
                      columns = embedding(batch(indices).transpose(0, 1));
  ASSERT_EQ(rows.shape(), Shape({2, 3, 2}));
  ASSERT_EQ(columns.shape(), Shape({3, 2, 2}));
  EXPECT_EQ(rows(1, 0, 0), 7);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(rows(1, i, 1), columns(i, 1, 1));
}

TEST(Embedding, ClearsThePaddingRow) {
  const Embedding<float> embedding(counting({3, 2}), 1);
  EXPECT_EQ(embedding.table()(1, 0), 0);
  EXPECT_EQ(embedding.table()(1, 1), 0);
  EXPECT_EQ(embedding.table()(0, 1), 2);
  EXPECT_EQ(embedding.padding(), 1);
}

TEST(Embedding, DrawsNormalWeightsOverRootWidth) {
  NumpyRandom random(3), same(3);
  const auto embedding = Embedding<double>::random(4, 16, random, 0);
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t i = 0; i < 16; ++i) {
      const double drawn = same.normal() / 4;
      EXPECT_EQ(embedding.table()(row, i), row == 0 ? 0 : drawn);
    }
  }
}

TEST(Embedding, RefusesTokensThatItDoesNotHave) {
  const Embedding<float> embedding(counting({3, 2}));
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{3}, std::int64_t{1} << 40}) {
    const std::array<std::int64_t, 2> indices{0, bad};
    EXPECT_THROW(embedding(indices), Error) << bad;
  }
  EXPECT_THROW(Embedding<float>(counting({3, 2}), 3), Error);
  EXPECT_THROW(Embedding<float>(counting({6})), Error);
  EXPECT_THROW(Embedding<float>(Tensor<float>({0, 2})), Error);
  EXPECT_THROW(embedding(View<const std::int64_t>(nullptr, Shape{2})), Error);
}

TEST(EmbedWithPositions, ScalesByRootWidthAndAddsTheTable) {
  const Embedding<float> embedding(counting({3, 4}), 0);  // sqrt(4) = 2
  const std::array<std::int64_t, 6> indices{1, 2, 0, 2, 0, 0};
  Tensor<float> positions({5, 4});
  for (std::int64_t row = 0; row < 5; ++row) {
    for (std::int64_t i = 0; i < 4; ++i) positions(row, i) = static_cast<float>(1000 * row);
  }
  const Tensor<float> x = embed_with_positions<float>(embedding, batch(indices), positions);
  ASSERT_EQ(x.shape(), Shape({2, 3, 4}));
  EXPECT_EQ(x(0, 0, 0), 2 * 5);
  EXPECT_EQ(x(0, 1, 3), 2 * 12 + 1000);
  EXPECT_EQ(x(0, 2, 2), 2000);  // padding: the position alone
  EXPECT_EQ(x(1, 0, 0), 2 * 9);
}

TEST(EmbedWithPositions, RefusesATableThatIsTooShortOrOfAnotherWidth) {
  const Embedding<float> embedding(counting({3, 4}));
  const std::array<std::int64_t, 6> indices{};
  EXPECT_THROW(embed_with_positions<float>(embedding, batch(indices), Tensor<float>({2, 4})),
               Error);
  EXPECT_THROW(embed_with_positions<float>(embedding, batch(indices), Tensor<float>({3, 3})),
               Error);
  EXPECT_NO_THROW(embed_with_positions<float>(embedding, batch(indices), Tensor<float>({3, 4})));
}

TEST(PaddingMask, IsTrueWhereThereIsAWord) {
  const std::array<std::int64_t, 6> indices{4, 5, 0, 0, 7, 0};
  const Tensor<bool> mask = padding_mask(batch(indices), 0);
  ASSERT_EQ(mask.shape(), Shape({2, 1, 1, 3}));
  const std::array<bool, 6> expected{true, true, false, false, true, false};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(mask.span()[i], expected[i]) << i;
}

// Two heads, two sentences of which one is shorter: what stands in the padding must not matter, not
// even NaN.
TEST(PaddingMask, HidesPaddingFromEveryHeadAndQuery) {
  const std::array<std::int64_t, 6> indices{4, 5, 0, 6, 7, 8};
  const Tensor<bool> mask = padding_mask(batch(indices), 0);
  NumpyRandom random(8);
  Tensor<float> x({2, 2, 3, 4});
  for (float& value : x.span()) value = static_cast<float>(random.normal());
  for (std::int64_t head = 0; head < 2; ++head) {
    x(0, head, 2, 1) = std::numeric_limits<float>::quiet_NaN();
  }
  AttentionOptions<float> options;
  options.mask = BoolMask(mask.view());
  const Tensor<float> queries({2, 2, 3, 4});  // zeros: equal weights for whatever is seen
  const Tensor<float> map = attention_weights<float>(queries, x, options);
  Tensor<float> out({2, 2, 3, 4});
  attention<float>(queries, x, x, out, options);
  for (std::int64_t head = 0; head < 2; ++head) {
    for (std::int64_t query = 0; query < 3; ++query) {
      EXPECT_EQ(map(0, head, query, 2), 0);
      EXPECT_EQ(map(0, head, query, 0), 0.5f);
      EXPECT_NEAR(map(1, head, query, 2), 1.0 / 3, 0x1p-25);
      EXPECT_FALSE(std::isnan(out(0, head, query, 1)));
    }
  }
}

}  // namespace
}  // namespace sextant
