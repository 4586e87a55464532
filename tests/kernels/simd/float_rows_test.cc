// Rows of float32 tables on every compiled instruction set.
#include "kernels/simd/float_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "kernels/rotate/every_target.h"

namespace sextant::kernels {
namespace {

// All widths around the vector lengths, one and four anchors, streamed or not, some rows of b, any
// strides.
TEST(FloatRows, FloatsAreTheRoundedValues) {
  const Tensor<double> exact_b = random_rows(8, 4);
  Tensor<double> b({8, kRow / 2});
  for (std::int64_t r = 0; r < 8; ++r) std::copy_n(&exact_b(r, 0), kRow / 2, &b(r, 0));
  const Tensor<double> exact_anchors = random_rows(4, 5);
  Tensor<double> anchors({4, kRow / 2});
  for (std::int64_t r = 0; r < 4; ++r) std::copy_n(&exact_anchors(r, 0), kRow / 2, &anchors(r, 0));
  Tensor<double> guard({static_cast<std::int64_t>(kColumns)});
  on_every_target([&] {
    for (const int anchor_count : {1, 4}) {
      for (const std::size_t width : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 48, 63, 64}) {
        for (const bool stream : {false, true}) {
          if (stream && width % 16 != 0) continue;
          Tensor<float> out({4 * 8, 80});
          std::uint8_t cancelled[8];
          float_sines_of_sums(anchors.data(), anchor_count, b.data(), 2, 7, {guard.data(), 0},
                              {out.data(), 80, 8, width, stream}, kColumns, cancelled);
          finish_streaming();
          for (int r = 0; r < anchor_count; ++r) {
            for (int i = 2; i < 7; ++i) {
              Tensor<double> values({static_cast<std::int64_t>(kColumns)});
              sines_of_sums(&anchors(r, 0), &b(i, 0), {guard.data(), 0}, values.data(), kColumns);
              for (std::size_t c = 0; c < 80; ++c) {
                const auto column = static_cast<std::int64_t>(c);
                const float expected = c < width ? static_cast<float>(values(column)) : 0.0F;
                ASSERT_EQ(out(8 * r + i - 2, column), expected)
                    << "width " << width << " column " << c;
              }
            }
          }
        }
      }
    }
  });
}

TEST(FloatRows, ReportsSmallValuesUnlessTheyAreGuarded) {
  Tensor<double> anchors({4, kRow / 2});
  Tensor<double> b({2, kRow / 2});
  Tensor<double> guard({static_cast<std::int64_t>(kColumns)});
  for (std::size_t i = 0; i < kColumns; ++i) {
    for (std::int64_t r = 0; r < 4; ++r) anchors(r, static_cast<std::int64_t>(i)) = -0.5;
    for (std::int64_t r = 0; r < 2; ++r) b(r, static_cast<std::int64_t>(kColumns + i)) = 1;
  }
  anchors(2, 13) = -0x1p-20;  // the value -2^-20 in column 13 of anchor 2
  on_every_target([&] {
    for (const bool guarded : {false, true}) {
      guard(13) = guarded ? kGuard : 0;
      const unsigned expected = guarded ? 0 : 1;
      Tensor<float> out({8, static_cast<std::int64_t>(kColumns)});
      std::uint8_t cancelled[2] = {255, 255};
      const FloatRows rows{out.data(), static_cast<std::int64_t>(kColumns), 2, kColumns, false};
      float_sines_of_sums(anchors.data(), 4, b.data(), 0, 2, {guard.data(), 0x1p-15}, rows,
                          kColumns, cancelled);
      EXPECT_EQ(cancelled[0], expected << 2);
      EXPECT_EQ(cancelled[1], expected << 2);
      float_sines_of_sums(&anchors(2, 0), 1, b.data(), 0, 2, {guard.data(), 0x1p-15}, rows,
                          kColumns, cancelled);
      EXPECT_EQ(cancelled[0], expected);
      Tensor<double> values({static_cast<std::int64_t>(kColumns)});
      EXPECT_EQ(
          sines_of_sums(&anchors(2, 0), b.data(), {guard.data(), 0x1p-15}, values.data(), kColumns),
          !guarded);
      EXPECT_FALSE(sines_of_sums(&anchors(2, 0), b.data(), {guard.data(), 0x1p-21}, values.data(),
                                 kColumns));
    }
  });
}

}  // namespace
}  // namespace sextant::kernels
