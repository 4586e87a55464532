// Rotation of rows on every compiled instruction set.
#include "kernels/rotate/rotate_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/rotate/every_target.h"

namespace sextant::kernels {
namespace {

constexpr double kUnit = 0x1p-24;  // half a step of float32 at 1

// Memory with its own end after every array, so that sanitizers see reads beyond it.
template <class T>
std::vector<T> random_values(std::int64_t count, std::mt19937& random, double most) {
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values)
    value = static_cast<T>(std::uniform_real_distribution<>(-most, most)(random));
  return values;
}

// channel c of a row rotated in float64, and what its error may be: the bound of the header plus,
// for 16-bit results, half a step of theirs at that size or of their smallest.
struct Exact {
  double value;
  double bound;
};

template <class T, class U>
Exact exact(const T* row, const BasicRotationRows<U>& table, std::int64_t n, std::int64_t c) {
  const std::int64_t i = c - table.first_channel;
  if (i < 0 || i >= 2 * table.pairs) return {static_cast<double>(row[c]), 0};
  const std::int64_t k = table.interleaved ? i / 2 : i % table.pairs;
  const bool second = table.interleaved ? i % 2 == 1 : i >= table.pairs;
  const T* pair = row + table.first_channel + (table.interleaved ? 2 * k : k);
  const double x1 = static_cast<double>(pair[0]);
  const double x2 = static_cast<double>(pair[table.interleaved ? 1 : table.pairs]);
  const double cos = static_cast<double>(table.cos[n * table.stride + k]);
  const double sin =
      static_cast<double>(table.sin[n * table.stride + k]) * (table.inverse ? -1 : 1);
  const double value = second ? x1 * sin + x2 * cos : x1 * cos - x2 * sin;
  // Without fused operations the second product is rounded too; 2^-149 is the least step there is.
  double bound = (std::fabs(x1) + std::fabs(x2)) * kUnit * (2 + kUnit) + 0x1p-148;
  if (std::is_same_v<T, bfloat16>) bound += (std::fabs(value) + bound) * 0x1p-8;
  if (std::is_same_v<T, float16>) {
    bound += std::max((std::fabs(value) + bound) * 0x1p-11, 0x1p-25);
  }
  return {value, bound};
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T, class U>
RotatedHeads<T> heads_of(const T* x, T* out, std::int64_t heads, std::int64_t rows,
                         std::int64_t head_dim) {
  RotatedHeads<T> all{.x = x, .out = out, .heads = heads, .rows = rows, .head_dim = head_dim};
  for (std::int64_t* strides : {all.x_strides, all.out_strides}) {
    strides[0] = rows * head_dim;
    strides[1] = head_dim;
    strides[2] = 1;
  }
  return all;
}

template <class T, class U>
struct Types {
  using Data = T;
  using Table = U;
};
template <class Pair>
class RotateHeads : public testing::Test {};
using Pairs = testing::Types<Types<float, float>, Types<bfloat16, float>, Types<bfloat16, bfloat16>,
                             Types<float16, float>, Types<float16, float16>>;
TYPED_TEST_SUITE(RotateHeads, Pairs);

// All numbers of pairs up to two vectors and one, spans with channels before and after, both
// layouts and directions, an odd number of heads.
TYPED_TEST(RotateHeads, IsWithinTheBoundAndTheSameInPlaceAndScattered) {
  using T = typename TypeParam::Data;
  using U = typename TypeParam::Table;
  constexpr std::int64_t kHeads = 3;
  constexpr std::int64_t kRows = 2;
  std::mt19937 random(1);
  on_every_target([&] {
    for (std::int64_t pairs = 0; pairs <= 33; ++pairs) {
      for (const int kind : {0, 1, 2, 3}) {
        const std::int64_t before = kind < 2 ? 0 : pairs % 4;
        const std::int64_t head_dim = before + 2 * pairs + (kind < 2 ? 0 : 1 + pairs % 3);
        const auto x = random_values<T>(kHeads * kRows * head_dim, random, 4);
        const auto cos = random_values<U>(kRows * pairs, random, 1);
        const auto sin = random_values<U>(kRows * pairs, random, 1);
        const BasicRotationRows<U> table{
            cos.data(), sin.data(), pairs, pairs, before, kind % 2 == 1, kind == 1 || kind == 2};
        std::vector<T> out(x.size());
        rotate_heads(heads_of<T, U>(x.data(), out.data(), kHeads, kRows, head_dim), table);
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size()); ++i) {
          const std::int64_t row = i / head_dim;
          const auto [value, bound] = exact(&x[row * head_dim], table, row % kRows, i % head_dim);
          ASSERT_NEAR(static_cast<double>(out[i]), value, bound) << pairs << ' ' << kind;
        }
        std::vector<T> own = x;
        rotate_heads(heads_of<T, U>(own.data(), own.data(), kHeads, kRows, head_dim), table);
        // Heads inside rows, channels outermost: [channel, row, head].
        std::vector<T> scattered(x.size());
        RotatedHeads<T> apart = heads_of<T, U>(x.data(), scattered.data(), kHeads, kRows, head_dim);
        apart.out_strides[0] = 1;
        apart.out_strides[1] = kHeads;
        apart.out_strides[2] = kHeads * kRows;
        rotate_heads(apart, table);
        // Heads inside rows: [row, head, channel].
        std::vector<T> woven(x.size());
        RotatedHeads<T> inside = heads_of<T, U>(x.data(), woven.data(), kHeads, kRows, head_dim);
        inside.out_strides[0] = head_dim;
        inside.out_strides[1] = kHeads * head_dim;
        rotate_heads(inside, table);
        for (std::int64_t h = 0; h < kHeads; ++h) {
          for (std::int64_t n = 0; n < kRows; ++n) {
            for (std::int64_t c = 0; c < head_dim; ++c) {
              const T expected = out[(h * kRows + n) * head_dim + c];
              ASSERT_TRUE(same_bits(own[(h * kRows + n) * head_dim + c], expected)) << pairs;
              ASSERT_TRUE(same_bits(scattered[(c * kRows + n) * kHeads + h], expected)) << pairs;
              ASSERT_TRUE(same_bits(woven[(n * kHeads + h) * head_dim + c], expected)) << pairs;
            }
          }
        }
      }
    }
  });
}

// Widths that can be streamed and ones that cannot, before and after the span too.
TYPED_TEST(RotateHeads, StreamsTheSameBits) {
  using T = typename TypeParam::Data;
  using U = typename TypeParam::Table;
  std::mt19937 random(2);
  on_every_target([&] {
    for (const bool interleaved : {false, true}) {
      for (const std::int64_t pairs : {0, 5, 16, 32, 48, 64, 96}) {
        for (const std::int64_t around : {0, 32, 7}) {
          const std::int64_t head_dim = 2 * pairs + 2 * around;
          Tensor<T> x({3, 4, head_dim});
          for (T& value : x.span())
            value = static_cast<T>(std::uniform_real_distribution<>(-4, 4)(random));
          const auto cos = random_values<U>(4 * pairs, random, 1);
          const auto sin = random_values<U>(4 * pairs, random, 1);
          const BasicRotationRows<U> table{cos.data(), sin.data(),  pairs, pairs,
                                           around,     interleaved, false};
          Tensor<T> plain(x.shape());
          Tensor<T> streamed(x.shape());
          RotatedHeads<T> all = heads_of<T, U>(x.data(), plain.data(), 3, 4, head_dim);
          rotate_heads(all, table);
          all.out = streamed.data();
          all.stream = true;
          rotate_heads(all, table);
          for (std::int64_t i = 0; i < x.count(); ++i) {
            ASSERT_TRUE(same_bits(plain.data()[i], streamed.data()[i])) << pairs << ' ' << around;
          }
        }
      }
    }
  });
}

template <class T>
class RotateRounding : public testing::Test {};
using ShortTypes = testing::Types<bfloat16, float16>;
TYPED_TEST_SUITE(RotateRounding, ShortTypes);

// x1 cos - 0 * 0 is the product alone: any float32 from far below the denormals of float16 to
// beyond its largest number, infinities, and NaN.
TYPED_TEST(RotateRounding, IsThatOfTheConversionsOfTheLibrary) {
  using T = TypeParam;
  constexpr std::size_t kPairs = 37;
  std::mt19937 random(3);
  on_every_target([&] {
    int not_numbers = 0;
    for (int trial = 0; trial < 400; ++trial) {
      std::vector<T> x(2 * kPairs);
      std::vector<float> cos(kPairs, 1);
      const std::vector<float> sin(kPairs);
      for (std::size_t k = 0; k < kPairs; ++k) {
        x[k].bits = static_cast<std::uint16_t>(random());
        if (trial % 4 == 0) continue;
        const float fraction = 1 + static_cast<float>(random() >> 9) * 0x1p-23F;
        cos[k] = std::ldexp(fraction, static_cast<int>(random() % 60) - 30);
      }
      const RotationRows table{cos.data(), sin.data(), 0, kPairs, 0, false, false};
      std::vector<T> out(x.size());
      rotate_heads(heads_of<T, float>(x.data(), out.data(), 1, 1, 2 * kPairs), table);
      for (std::size_t k = 0; k < kPairs; ++k) {
        const float product = static_cast<float>(x[k]) * cos[k];
        if (std::isnan(product)) {
          ASSERT_TRUE(std::isnan(static_cast<float>(out[k])));
          ++not_numbers;
        } else {
          ASSERT_EQ(out[k].bits, static_cast<T>(static_cast<double>(product)).bits) << product;
        }
      }
    }
    EXPECT_GT(not_numbers, 0);
  });
}

TEST(RotateRows, GivesTheBitsOfHeadsInPlace) {
  std::mt19937 random(4);
  on_every_target([&] {
    for (const bool interleaved : {false, true}) {
      const auto cos = random_values<float>(5 * 24, random, 1);
      const auto sin = random_values<float>(5 * 24, random, 1);
      const RotationRows table{cos.data(), sin.data(), 24, 20, 3, interleaved, false};
      const auto x = random_values<float>(5 * 50, random, 4);
      std::vector<float> heads(x.size());
      rotate_heads(heads_of<float, float>(x.data(), heads.data(), 1, 5, 50), table);
      std::vector<float> rows = x;
      rotate_rows(rows.data(), 50, 5, table);
      EXPECT_EQ(std::memcmp(rows.data(), heads.data(), rows.size() * sizeof(float)), 0);
    }
  });
}

// The documented arithmetic: one product rounded, the other fused where the processor fuses.
TEST(RotateRows, RoundsOnesOwnProductAndFusesThePartners) {
  std::mt19937 random(5);
  const auto x = random_values<float>(80, random, 4);
  const auto cos = random_values<float>(40, random, 1);
  const auto sin = random_values<float>(40, random, 1);
  on_every_target([&] {
    std::vector<float> out = x;
    rotate_rows(out.data(), 80, 1, {cos.data(), sin.data(), 40, 40, 0, false, false});
    int fused = 0;
    int plain = 0;
    for (std::size_t k = 0; k < 40; ++k) {
      const float own1 = x[k] * cos[k];
      const float own2 = x[k + 40] * cos[k];
      const float other1 = x[k + 40] * sin[k];
      const float other2 = x[k] * sin[k];
      fused += out[k] == std::fma(-x[k + 40], sin[k], own1);
      fused += out[k + 40] == std::fma(x[k], sin[k], own2);
      plain += out[k] == own1 - other1;
      plain += out[k + 40] == own2 + other2;
    }
    EXPECT_EQ(std::max(fused, plain), 80);
  });
}

TEST(RotateRows, TurningBackUndoesTurning) {
  std::mt19937 random(6);
  const auto x = random_values<float>(2 * 38, random, 4);
  std::vector<float> cos(2 * 19);
  std::vector<float> sin(2 * 19);
  for (std::size_t k = 0; k < cos.size(); ++k) {
    const double angle = std::uniform_real_distribution<>(-4, 4)(random);
    cos[k] = static_cast<float>(std::cos(angle));
    sin[k] = static_cast<float>(std::sin(angle));
  }
  on_every_target([&] {
    for (const bool interleaved : {false, true}) {
      std::vector<float> y = x;
      rotate_rows(y.data(), 38, 2, {cos.data(), sin.data(), 19, 19, 0, interleaved, false});
      rotate_rows(y.data(), 38, 2, {cos.data(), sin.data(), 19, 19, 0, interleaved, true});
      // |x1| + |x2| <= 8 before and after the first rotation, so each one adds up to 16 units; the
      // second carries those of the first by |cos| + |sin| < 1.42; cos^2 + sin^2 is off by up to
      // two units, times 4.
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_NEAR(y[i], x[i], (16 + 1.42 * 16 + 8) * kUnit);
      }
    }
  });
}

TEST(RotateRows, KeepsWhatIsNoNumberInItsPair) {
  on_every_target([&] {
    for (const bool interleaved : {false, true}) {
      for (std::int64_t bad = 0; bad < 70; ++bad) {
        std::vector<float> x(70, 1.0F);
        x[static_cast<std::size_t>(bad)] = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> half(35, 0.5F);
        rotate_rows(x.data(), 70, 1, {half.data(), half.data(), 0, 35, 0, interleaved, false});
        for (std::int64_t c = 0; c < 70; ++c) {
          const bool together = interleaved ? c / 2 == bad / 2 : c % 35 == bad % 35;
          ASSERT_EQ(std::isnan(x[static_cast<std::size_t>(c)]), together) << bad << ' ' << c;
        }
      }
    }
  });
}

}  // namespace
}  // namespace sextant::kernels
