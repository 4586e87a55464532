// Each set of instructions for products of bfloat16 that the processor has, against float64.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernels/bf16/bf16_products.h"
#include "kernels/bf16/x86.h"
#include "sextant/core/random.h"

namespace sextant::kernels {
namespace {

std::vector<const Bf16Products*> all_products() {
  std::vector<const Bf16Products*> all;
  for (const Bf16Products* products : {amx_products(), dot_products()}) {
    if (products != nullptr) all.push_back(products);
  }
  return all;
}

std::vector<float> normal(std::int64_t count, std::uint32_t seed) {
  NumpyRandom random(seed);
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x) value = static_cast<float>(random.normal());
  return x;
}

float rounded(float x) { return static_cast<float>(bfloat16(static_cast<double>(x))); }

float half_of(const std::vector<std::uint32_t>& words, std::int64_t step, std::int64_t lane,
              std::int64_t stride) {
  const std::uint32_t word = words[static_cast<std::size_t>(step / 2 * stride + lane)];
  bfloat16 half;
  half.bits = static_cast<std::uint16_t>(step % 2 == 0 ? word : word >> 16);
  return static_cast<float>(half);
}

class Bf16ProductsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (all_products().empty()) GTEST_SKIP() << "the processor has no such instructions";
  }
};

constexpr std::uint16_t kOld = 0x4242;  // what was in memory before

TEST_F(Bf16ProductsTest, RoundRowsAndFillTheirTilesWithZeros) {
  const auto x = normal(40 * 70, 1);
  for (const Bf16Products* products : all_products()) {
    for (const std::int64_t rows : {1, 16, 17, 40}) {
      for (const std::int64_t steps : {1, 15, 16, 17, 31, 32, 33, 70}) {
        bfloat16 old;
        old.bits = kOld;
        const std::int64_t stride = bf16_steps(steps) + 32;
        std::vector<bfloat16> a(static_cast<std::size_t>(bf16_rows(rows) * stride), old);
        products->round_rows(x.data(), 70, rows, steps, a.data(), stride);
        for (std::int64_t r = 0; r < bf16_rows(rows); ++r) {
          for (std::int64_t s = 0; s < stride; ++s) {
            const bool outside = s >= bf16_steps(steps), inside = r < rows && s < steps;
            const float got = static_cast<float>(a[static_cast<std::size_t>(r * stride + s)]);
            const float want = outside  ? static_cast<float>(old)
                               : inside ? rounded(x[static_cast<std::size_t>(r * 70 + s)])
                                        : 0;
            ASSERT_EQ(got, want) << products->name << ' ' << rows << ' ' << steps << ' ' << r << ' '
                                 << s;
          }
        }
      }
    }
  }
}

TEST_F(Bf16ProductsTest, RoundColumnsWithOrWithoutWhatIsNotFinite) {
  auto x = normal(70 * 40, 2);
  x[5 * 40 + 3] = std::numeric_limits<float>::infinity();
  x[6 * 40 + 3] = std::numeric_limits<float>::quiet_NaN();
  for (const Bf16Products* products : all_products()) {
    for (const bool finite_only : {false, true}) {
      for (const std::int64_t rows : {1, 16, 17, 40}) {
        for (const std::int64_t steps : {1, 2, 31, 32, 33, 70}) {
          const std::int64_t stride = bf16_steps(steps);
          std::vector<bfloat16> a(static_cast<std::size_t>(bf16_rows(rows) * stride));
          products->round_columns(x.data(), 40, rows, steps, finite_only, a.data(), stride);
          for (std::int64_t r = 0; r < bf16_rows(rows); ++r) {
            for (std::int64_t s = 0; s < stride; ++s) {
              const float from =
                  r < rows && s < steps ? x[static_cast<std::size_t>(s * 40 + r)] : 0;
              const float want = finite_only && !std::isfinite(from) ? 0 : rounded(from);
              const float got = static_cast<float>(a[static_cast<std::size_t>(r * stride + s)]);
              ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
                  << products->name << ' ' << rows << ' ' << steps << ' ' << r << ' ' << s << ' '
                  << got << ' ' << want;
            }
          }
        }
      }
    }
  }
}

TEST_F(Bf16ProductsTest, TransposeWhatIsRounded) {
  std::vector<bfloat16> x(70 * 40);
  for (std::size_t n = 0; n < x.size(); ++n) x[n].bits = static_cast<std::uint16_t>(n + 1);
  for (const Bf16Products* products : all_products()) {
    for (const std::int64_t rows : {1, 16, 17, 40}) {
      for (const std::int64_t steps : {1, 2, 31, 32, 33, 70}) {
        const std::int64_t stride = bf16_steps(steps);
        std::vector<bfloat16> a(static_cast<std::size_t>(bf16_rows(rows) * stride), x[99]);
        products->transpose(x.data(), 40, rows, steps, a.data(), stride);
        for (std::int64_t r = 0; r < bf16_rows(rows); ++r) {
          for (std::int64_t s = 0; s < stride; ++s) {
            const int want = r < rows && s < steps ? static_cast<int>(s * 40 + r + 1) : 0;
            ASSERT_EQ(a[static_cast<std::size_t>(r * stride + s)].bits, want)
                << rows << ' ' << steps << ' ' << r << ' ' << s;
          }
        }
      }
    }
  }
}

TEST_F(Bf16ProductsTest, RoundLanesOfARangeOfSteps) {
  const auto x = normal(96 * 20, 3);
  for (const Bf16Products* products : all_products()) {
    for (std::int64_t begin = 32; begin < 64; begin += 5) {
      for (std::int64_t end = begin; end <= 96; end += 7) {
        std::vector<std::uint32_t> b(48 * 16, 7);
        products->round_lanes(x.data(), 20, begin, end, 32, 96, b.data(), 16);
        for (std::int64_t s = 32; s < 96; ++s) {
          for (std::int64_t lane = 0; lane < 16; ++lane) {
            const float want =
                s >= begin && s < end ? rounded(x[static_cast<std::size_t>(s * 20 + lane)]) : 0;
            ASSERT_EQ(half_of(b, s, lane, 16), want) << products->name << ' ' << s << ' ' << lane;
          }
        }
        for (std::size_t n = 0; n < 16 * 16; ++n) ASSERT_EQ(b[n], 7U);  // before step 32
      }
    }
  }
}

// A chain of float32 additions: each step is off by 2^-24 of what it has added up.
TEST_F(Bf16ProductsTest, MultiplyWholeTiles) {
  for (const Bf16Products* products : all_products()) {
    for (const std::int64_t added : {0, 3, 16, 31}) {
      for (const std::int64_t rows : {16, 32, 48}) {
        if (added > 0 && bf16_rows(added) != rows) continue;
        for (const std::int64_t lanes : {16, 32, 48, 64}) {
          for (const std::int64_t steps : {32, 64, 160}) {
            const auto x = normal(rows * steps, 4), y = normal(steps * 64, 5);
            std::vector<bfloat16> a(static_cast<std::size_t>(rows * steps));
            std::vector<std::uint32_t> b(static_cast<std::size_t>(steps / 2 * 64));
            std::vector<float> c(static_cast<std::size_t>(rows * 70), 9);
            products->round_rows(x.data(), steps, rows, steps, a.data(), steps);
            for (std::int64_t lane = 0; lane < 64; lane += 16) {
              products->round_lanes(y.data() + lane, 64, 0, steps, 0, steps, b.data() + lane, 64);
            }
            products->begin();
            products->product({.a = a.data(),
                               .a_row = steps,
                               .b = b.data(),
                               .b_row = 64,
                               .c = c.data(),
                               .c_row = 70,
                               .rows = rows,
                               .lanes = lanes,
                               .steps = steps,
                               .added_rows = added});
            products->end();
            for (std::int64_t r = 0; r < rows; ++r) {
              for (std::int64_t lane = 0; lane < 70; ++lane) {
                const float got = c[static_cast<std::size_t>(r * 70 + lane)];
                if (lane >= lanes || (added > 0 && r >= added)) {
                  ASSERT_EQ(got, 9.0F);
                  continue;
                }
                double sum = added > 0 ? 9 : 0, size = sum;
                for (std::int64_t s = 0; s < steps; ++s) {
                  const double product =
                      static_cast<double>(rounded(x[static_cast<std::size_t>(r * steps + s)])) *
                      static_cast<double>(rounded(y[static_cast<std::size_t>(s * 64 + lane)]));
                  sum += product;
                  size += std::abs(product);
                }
                ASSERT_NEAR(static_cast<double>(got), sum,
                            static_cast<double>(steps + 1) * 0x1p-24 * size)
                    << products->name << ' ' << rows << ' ' << lanes << ' ' << steps;
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sextant::kernels
