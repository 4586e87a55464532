// Embeddings, positions added to them, and the padding mask at work.
#include "sextant/layers/embedding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sextant/attention/attention.h"
#include "sextant/core/error.h"
#include "support/error_of.h"

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

TEST(Embedding, GivesItsGradientToEveryRowButThePadding) {
  constexpr std::int64_t kTokens = 5, kPadding = 2;
  const std::vector<std::int64_t> indices{0, 4, 2, 4, 4, 1, 2, 0};
  for (const std::int64_t width : {1, 64, 150, 257}) {
    const Embedding<float> embedding(counting({kTokens, width}), kPadding);
    const Tensor<float> dy = counting({8, width});
    Tensor<float> expected({kTokens, width});
    for (std::size_t i = 0; i < indices.size(); ++i) {
      for (std::int64_t c = 0; c < width && indices[i] != kPadding; ++c) {
        expected(indices[i], c) += dy(static_cast<std::int64_t>(i), c) * 0.1F;
      }
    }
    for (const int threads : {1, 2, 3, 7}) {
      Embedding<float> gradient(Tensor<float>({kTokens, width}), kPadding);
      Workspace memory;
      const Pass pass{.memory = memory, .threads = threads};
      embedding.backward(indices, 0.1F, dy, gradient, pass);
      for (std::int64_t i = 0; i < expected.count(); ++i) {
        ASSERT_EQ(gradient.table().data()[i], expected.data()[i]) << width << ' ' << threads;
      }
    }
  }
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

// One rounding from float64, whatever the instruction set: equal to the formula as it stands.
TEST(EmbedWithPositions, RoundsTheSumOnce) {
  NumpyRandom random(9);
  for (const std::int64_t width : {1, 7, 16, 33, 64}) {
    const auto embedding = Embedding<float>::random(50, width, random);
    Tensor<float> positions({40, width});
    for (float& value : positions.span()) value = static_cast<float>(random.normal());
    Tensor<std::int64_t> indices({3, 40});
    for (std::int64_t i = 0; i < 120; ++i) indices.data()[i] = i * 7 % 50;
    const Tensor<float> x = embed_with_positions<float>(embedding, indices, positions);
    for (std::int64_t i = 0; i < x.count(); ++i) {
      const std::int64_t row = i / width;
      const double token = embedding.table()(indices.data()[row], i % width);
      const double position = positions(row % 40, i % width);
      const double sum = token * std::sqrt(static_cast<double>(width)) + position;
      ASSERT_EQ(x.data()[i], static_cast<float>(sum)) << width;
    }
  }
}

// Two sentences on the left and right of padding, and two packed into one row, have the vectors of
// the sentences alone.
TEST(EmbedWithPositions, TakesThePositionOfEachToken) {
  const Embedding<float> embedding(counting({8, 4}), 0);
  Tensor<float> positions({6, 4});
  for (std::int64_t i = 0; i < 24; ++i) positions.data()[i] = static_cast<float>(100 * i);
  const std::array<std::int64_t, 2> sentence{5, 7};
  const Tensor<float> alone = embed_with_positions<float>(
      embedding, View<const std::int64_t>(sentence.data(), {1, 2}), positions);
  const std::array<std::int64_t, 6> indices{0, 5, 7, 5, 7, 5};
  const std::array<std::int64_t, 6> ids{0, 0, 1, 0, 1, 0};
  const Tensor<float> x = embed_with_positions<float>(embedding, batch(indices), positions,
                                                      {.position_ids = batch(ids)});
  const Tensor<float> later =
      embed_with_positions<float>(embedding, batch(indices), positions, {.offset = 3});
  const Tensor<float> moved = embed_with_positions<float>(
      embedding, batch(indices), positions, {.position_ids = batch(ids), .offset = 4});
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(x(0, 0, i), positions(0, i));
    EXPECT_EQ(x(0, 1, i), alone(0, 0, i));
    EXPECT_EQ(x(0, 2, i), alone(0, 1, i));
    EXPECT_EQ(x(1, 0, i), alone(0, 0, i));
    EXPECT_EQ(x(1, 1, i), alone(0, 1, i));
    EXPECT_EQ(x(1, 2, i), alone(0, 0, i));
    EXPECT_EQ(later(0, 0, i), positions(3, i));
    EXPECT_EQ(later(0, 2, i), 2 * embedding.table()(7, i) + positions(5, i));
    EXPECT_EQ(moved(0, 0, i), positions(4, i));
    EXPECT_EQ(moved(1, 1, i), 2 * embedding.table()(7, i) + positions(5, i));
  }
}

TEST(EmbedWithPositions, TakesPositionTablesOfAnyStrides) {
  const Embedding<float> embedding(counting({6, 4}));
  const std::array<std::int64_t, 6> indices{1, 2, 0, 2, 0, 5};
  const Tensor<float> columns = counting({4, 5});
  const View<const float> transposed = columns.view().transpose(0, 1);
  const Tensor<float> x = embed_with_positions<float>(embedding, batch(indices), transposed);
  const Tensor<float> wide = counting({5, 9});
  const Tensor<float> y =
      embed_with_positions<float>(embedding, batch(indices), wide.view().narrow(1, 2, 4));
  for (std::int64_t n = 0; n < 3; ++n) {
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(x(1, n, i), 2 * embedding.table()(indices[3 + n], i) + columns(i, n));
      EXPECT_EQ(y(1, n, i), 2 * embedding.table()(indices[3 + n], i) + wide(n, 2 + i));
    }
  }
}

// Several tasks, streamed, against rows alone.
TEST(EmbedWithPositions, IsTheSameOnAnyNumberOfThreads) {
  NumpyRandom random(10);
  const auto embedding = Embedding<float>::random(100, 512, random);
  Tensor<float> positions({3000, 512});
  for (float& value : positions.span()) value = static_cast<float>(random.normal());
  Tensor<std::int64_t> indices({3, 2999});
  for (std::int64_t i = 0; i < indices.count(); ++i) indices.data()[i] = i * 31 % 100;
  const Tensor<float> one =
      embed_with_positions<float>(embedding, indices, positions, {.threads = 1});
  for (const int threads : {0, 3}) {
    const Tensor<float> many =
        embed_with_positions<float>(embedding, indices, positions, {.threads = threads});
    EXPECT_TRUE(std::equal(one.span().begin(), one.span().end(), many.data())) << threads;
  }
  for (const std::int64_t n : {0, 1500, 2998}) {
    const Tensor<float> alone = embed_with_positions<float>(
        embedding, indices.view().narrow(0, 2, 1).narrow(1, n, 1), positions, {.offset = n});
    EXPECT_TRUE(std::equal(alone.span().begin(), alone.span().end(), &one(2, n, 0)));
  }
}

TEST(EmbedWithPositions, NamesTheArgumentAtFault) {
  const Embedding<float> embedding(counting({3, 4}));
  const std::array<std::int64_t, 6> indices{};
  const Tensor<float> positions({3, 4});
  const auto fails = [&](const char* where, const EmbedOptions& options) {
    expect_error(
        where, [&] { embed_with_positions<float>(embedding, batch(indices), positions, options); });
  };
  fails("embed_with_positions.offset", {.offset = -1});
  fails("embed_with_positions.positions", {.offset = 1});
  fails("embed_with_positions.positions", {.offset = std::numeric_limits<std::int64_t>::max()});
  fails("embed_with_positions.threads", {.threads = -1});
  const std::array<std::int64_t, 6> high{0, 1, 2, 3, 0, 0};
  const std::array<std::int64_t, 6> low{0, 1, 2, -1, 0, 0};
  const auto lowest = std::numeric_limits<std::int64_t>::min();
  const std::array<std::int64_t, 6> deep{lowest, 0, 0, 0, 0, 0};
  fails("embed_with_positions.positions", {.position_ids = batch(high)});
  fails("embed_with_positions.positions", {.position_ids = batch(low)});
  fails("embed_with_positions.positions", {.position_ids = batch(deep)});
  fails("embed_with_positions.position_ids", {.position_ids = batch(high).transpose(0, 1)});
  const std::array<std::int64_t, 6> unknown{0, 0, 3, 0, 0, 0};
  EXPECT_THROW(embed_with_positions<float>(embedding, batch(unknown), positions), Error);
  EXPECT_EQ(
      embed_with_positions<float>(embedding, batch(indices).narrow(0, 0, 0), positions).count(), 0);
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
