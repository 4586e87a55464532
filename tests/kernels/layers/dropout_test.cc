// Dropout's numbers against the authors' known answers, and the same bits on every instruction set.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/layers/layer_numbers.h"
#include "kernels/layers/rows.h"
#include "kernels/rotate/every_target.h"
#include "kernels/simd/philox.h"

namespace sextant::kernels {
namespace {

// kat_vectors of Random123, the authors' library: "philox4x32 10".
TEST(Philox, GivesThePublishedAnswers) {
  using Four = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t f = 0xffffffff;
  EXPECT_EQ(philox({f, f, f, f}, {f, f}), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The header's words, one element at a time.
std::vector<float> dropped(const RowDropout& o, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  const auto factor = static_cast<float>(1 / (1 - o.rate));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint64_t index = static_cast<std::uint64_t>(o.first) + i;
    const auto numbers =
        philox({static_cast<std::uint32_t>(index / 4), static_cast<std::uint32_t>(index / 4 >> 32),
                o.stream, 0},
               {static_cast<std::uint32_t>(o.seed), static_cast<std::uint32_t>(o.seed >> 32)});
    y[i] =
        static_cast<double>(numbers[index % 4]) < std::floor(o.rate * 0x1p32) ? 0 : x[i] * factor;
  }
  return y;
}

TEST(RowDropout, HasTheSameBitsOnEveryInstructionSet) {
  const RowDropout options{0.3, 0x123456789abcdef0, 77};
  on_every_target([&] {
    for (const std::int64_t count : {0, 1, 3, 4, 63, 64, 65, 300, 8191, 8192, 20001}) {
      const auto x = normal_numbers(count, 1), residual = normal_numbers(count, 2);
      const auto expected = dropped(options, x);
      auto y = x;
      dropout(options, y.data(), count, y.data(), 2);
      EXPECT_EQ(y, expected) << count;
      add_dropout(options, residual.data(), x.data(), count, y.data(), 1);
      for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], residual[i] + expected[i]);
    }
  });
}

TEST(RowDropout, BeginsAtAnyIndexOnEveryInstructionSet) {
  on_every_target([&] {
    for (const std::int64_t first : {1, 2, 3, 4, 63, 4097, (1 << 30) + 3}) {
      const RowDropout options{0.3, 0x123456789abcdef0, 77, first};
      for (const std::int64_t count : {1, 3, 4, 65, 300, 20001}) {
        const auto x = normal_numbers(count, 1);
        auto y = x;
        dropout(options, y.data(), count, y.data(), 2);
        EXPECT_EQ(y, dropped(options, x)) << first << ", " << count;
      }
    }
  });
}

TEST(RowDropout, KeepsEverythingAtRateZero) {
  const auto x = normal_numbers(1000, 1);
  std::vector<float> y(x.size());
  dropout({0, 1, 2}, x.data(), 1000, y.data(), 1);
  EXPECT_EQ(y, x);
}

// Of n = 10^6 elements n rate are expected to go, with a standard deviation below sqrt(n) / 2 =
// 500: five of them.
TEST(RowDropout, DropsTheShareItIsAskedFor) {
  const std::vector<float> ones(1'000'000, 1.0F);
  std::vector<float> y(ones.size());
  for (const double rate : {0.1, 0.5, 0.9}) {
    dropout({rate, 5, 6}, ones.data(), 1'000'000, y.data(), 0);
    double gone = 0;
    for (const float v : y) gone += v == 0;
    EXPECT_NEAR(gone, rate * 1e6, 2500);
  }
}

TEST(RowDropout, DependsOnSeedAndStream) {
  const std::vector<float> ones(1000, 1.0F);
  std::vector<float> a(1000), b(1000), c(1000);
  dropout({0.5, 1, 1}, ones.data(), 1000, a.data(), 1);
  dropout({0.5, 1, 2}, ones.data(), 1000, b.data(), 1);
  dropout({0.5, 2, 1}, ones.data(), 1000, c.data(), 1);
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(b, c);
}

}  // namespace
}  // namespace sextant::kernels
