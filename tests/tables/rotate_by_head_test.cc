// Tables that differ between heads: each head is rotated as it would be alone.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "sextant/core/random.h"
#include "sextant/schemes/rotated/rotary.h"
#include "support/error_of.h"

namespace sextant {
namespace {

template <class T>
Tensor<T> normal(const Shape& shape, NumpyRandom& random) {
  Tensor<T> x(shape);
  for (T& element : x.span()) element = static_cast<T>(random.normal());
  return x;
}

template <class T>
class RotateByHead : public ::testing::Test {};
using Elements = ::testing::Types<float, double, float16, bfloat16>;
TYPED_TEST_SUITE(RotateByHead, Elements);

TYPED_TEST(RotateByHead, TurnsEachHeadByItsOwnTable) {
  using T = TypeParam;
  // Longer and with more heads than what one task takes.
  constexpr std::int64_t kBatch = 2, kHeads = 5, kLength = 700, kHeadDim = 24, kPairs = 9;
  NumpyRandom random(1);
  RotationTable<T> table{normal<T>(Shape{kHeads, kLength, kPairs}, random),
                         normal<T>(Shape{kHeads, kLength, kPairs}, random),
                         RotaryLayout::interleaved, 2, nullptr};
  const auto x = normal<T>(Shape{kBatch, kLength, kHeads, kHeadDim}, random);
  const auto by_head = x.view().transpose(1, 2);
  for (const bool back : {false, true}) {
    for (const int threads : {1, 3}) {
      Tensor<T> out(Shape{kBatch, kHeads, kLength, kHeadDim});
      const auto turn = [&](View<const T> from, View<T> to, const RotationTable<T>& by) {
        back ? rotate_back<T, T>(from, to, by, threads) : rotate<T, T>(from, to, by, threads);
      };
      turn(by_head, out.view(), table);
      for (std::int64_t h = 0; h < kHeads; ++h) {
        const RotationTable<T> own{copy_of(table.cos.view().select(0, h)),
                                   copy_of(table.sin.view().select(0, h)), table.layout,
                                   table.first_channel, nullptr};
        Tensor<T> alone(Shape{kBatch, 1, kLength, kHeadDim});
        turn(by_head.narrow(1, h, 1), alone.view(), own);
        const auto got = copy_of(out.view().narrow(1, h, 1));
        EXPECT_EQ(std::memcmp(got.data(), alone.data(),
                              static_cast<std::size_t>(got.count()) * sizeof(T)),
                  0)
            << "head " << h;
      }
    }
  }
}

TEST(RotateByHeadTables, ThatDoNotFitAreRefused) {
  NumpyRandom random(2);
  auto x = normal<float>(Shape{1, 4, 5, 8}, random);
  const auto message = [&](const Shape& shape) {
    const RotationTable<float> table{Tensor<float>(shape), Tensor<float>(shape),
                                     RotaryLayout::half_split, 0, nullptr};
    return error_of([&] { rotate<float, float>(x.view(), x.view(), table); });
  };
  EXPECT_EQ(message(Shape{2, 5, 4}), "[rotate.table] must be for the 4 heads of x, got [2, 5, 4]");
  EXPECT_EQ(message(Shape{4, 6, 4}),
            "[rotate.table] must have one row per position of x, 5, got 6");
  EXPECT_EQ(message(Shape{4, 5, 5}),
            "[rotate.table] must rotate channels inside head_dim 8, got 10 channels from 0");
  EXPECT_EQ(message(Shape{4, 5, 4, 1}),
            "[rotate.table] must hold cos and sin of one shape [position, pairs] or [heads, "
            "position, pairs]");
  EXPECT_EQ(message(Shape{4, 5, 4}), "no error");
}

}  // namespace
}  // namespace sextant
