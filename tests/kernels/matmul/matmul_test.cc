// Matrix products on every compiled instruction set: the chain they promise, to the bit.
#include "kernels/matmul/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/matmul/division.h"
#include "kernels/rotate/every_target.h"
#include "sextant/core/tensor.h"
#include "sextant/kernels.h"
#include "support/stealing_executor.h"

namespace sextant::kernels {
namespace {

constexpr float kUntouched = 12345.0F;

// How a matrix lies in memory: its rows, or its columns, or neither side by side.
enum class Layout { rows, columns, apart };

struct Matrix {
  Tensor<float> memory;
  MatrixRef ref{};
  float at(std::int64_t row, std::int64_t column) const {
    return ref.data[row * ref.row_stride + column * ref.column_stride];
  }
};

Matrix random_matrix(std::int64_t rows, std::int64_t columns, Layout layout, unsigned seed) {
  const std::int64_t step = layout == Layout::apart ? 2 : 1;
  const std::int64_t line = step * (layout == Layout::columns ? rows : columns) + 3;
  const std::int64_t lines = layout == Layout::columns ? columns : rows;
  Matrix m{Tensor<float>({lines * line})};
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(-1, 1);
  for (float& value : m.memory.span()) value = number(random);
  m.ref = {m.memory.data(), layout == Layout::columns ? 1 : line,
           layout == Layout::columns ? line : step};
  return m;
}

enum class From { zero, bias, sum };

struct Case {
  MatmulSizes sizes;
  Layout a = Layout::rows, b = Layout::rows;
  From from = From::zero;
  int threads = 1;
};

// The result, rows 5 apart beyond the columns, which nobody may write.
Tensor<float> start_of(const Case& test) {
  Tensor<float> c({test.sizes.rows, test.sizes.columns + 5});
  std::fill_n(c.data(), c.count(), kUntouched);
  if (test.from == From::sum) {
    for (std::int64_t i = 0; i < test.sizes.rows; ++i) {
      for (std::int64_t j = 0; j < test.sizes.columns; ++j) {
        c(i, j) = static_cast<float>(i % 7) - 0.3F * static_cast<float>(j % 11);
      }
    }
  }
  return c;
}

std::vector<float> bias_of(const Case& test) {
  std::vector<float> bias(static_cast<std::size_t>(test.sizes.columns));
  for (std::size_t j = 0; j < bias.size(); ++j) bias[j] = 0.25F * static_cast<float>(j % 13) - 1;
  return bias;
}

MatmulResult result_of(const Case& test, Tensor<float>& c, const std::vector<float>& bias) {
  return {c.data(), c.size(1), test.from == From::bias ? bias.data() : nullptr,
          test.from == From::sum};
}

bool fused() {
  const std::string target = chosen_target();
  return target.starts_with("AVX") || target == "NEON" || target.starts_with("SVE");
}

// What the header promises, one number at a time.
Tensor<float> chains(const Case& test, const Matrix& a, const Matrix& b) {
  Tensor<float> c = start_of(test);
  const std::vector<float> bias = bias_of(test);
  const bool fuse = fused();
  for (std::int64_t i = 0; i < test.sizes.rows; ++i) {
    for (std::int64_t j = 0; j < test.sizes.columns; ++j) {
      float sum = test.from == From::sum    ? c(i, j)
                  : test.from == From::bias ? bias[static_cast<std::size_t>(j)]
                                            : 0;
      for (std::int64_t k = 0; k < test.sizes.depth; ++k) {
        const float product = a.at(i, k) * b.at(k, j);
        sum = fuse ? std::fma(a.at(i, k), b.at(k, j), sum) : sum + product;
      }
      c(i, j) = sum;
    }
  }
  return c;
}

::testing::AssertionResult same_bits(const Tensor<float>& got, const Tensor<float>& expected) {
  for (std::int64_t i = 0; i < got.size(0); ++i) {
    for (std::int64_t j = 0; j < got.size(1); ++j) {
      if (got(i, j) != expected(i, j)) {
        return ::testing::AssertionFailure()
               << "at " << i << ", " << j << ": " << got(i, j) << ", not " << expected(i, j);
      }
    }
  }
  return ::testing::AssertionSuccess();
}

void expect_chains(const Case& test) {
  SCOPED_TRACE(testing::Message() << test.sizes.rows << " x " << test.sizes.depth << " x "
                                  << test.sizes.columns << " layouts " << int(test.a) << int(test.b)
                                  << " from " << int(test.from));
  const Matrix a = random_matrix(test.sizes.rows, test.sizes.depth, test.a, 1);
  const Matrix b = random_matrix(test.sizes.depth, test.sizes.columns, test.b, 2);
  const std::vector<float> bias = bias_of(test);
  const Tensor<float> expected = chains(test, a, b);
  Tensor<float> c = start_of(test);
  matmul(test.sizes, a.ref, b.ref, result_of(test, c, bias), test.threads);
  EXPECT_TRUE(same_bits(c, expected));
  const PackedMatrix packed(b.ref, test.sizes.depth, test.sizes.columns, test.threads);
  Tensor<float> again = start_of(test);
  matmul(test.sizes.rows, a.ref, packed, result_of(test, again, bias), test.threads);
  EXPECT_TRUE(same_bits(again, expected)) << "packed";
}

TEST(Matmul, EveryElementIsOneChainOfMultiplyAdds) {
  on_every_target([] {
    for (const std::int64_t rows : {1, 2, 3, 5, 7, 11, 12, 13, 23, 97, 110}) {
      for (const std::int64_t columns : {1, 4, 31, 32, 33, 70}) {
        expect_chains({{rows, columns, 19}});
      }
    }
  });
}

TEST(Matmul, TakesMatricesInAnyLayoutAndAnyStart) {
  on_every_target([] {
    for (const Layout a : {Layout::rows, Layout::columns, Layout::apart}) {
      for (const Layout b : {Layout::rows, Layout::columns, Layout::apart}) {
        for (const From from : {From::zero, From::bias, From::sum}) {
          expect_chains({{103, 45, 277}, a, b, from});
        }
      }
    }
  });
}

// Up to kFewRows each panel is packed where it is multiplied, 64 steps at a time.
TEST(Matmul, FewRowsAreTheSameChains) {
  on_every_target([] {
    for (const std::int64_t rows : {1, 5, 8, 9}) {
      for (const Layout b : {Layout::rows, Layout::columns, Layout::apart}) {
        for (const From from : {From::zero, From::bias, From::sum}) {
          expect_chains({{rows, 70, 300}, Layout::rows, b, from, 2});
        }
      }
      expect_chains({{rows, 33, 64}, Layout::columns, Layout::columns, From::bias});
      expect_chains({{rows, 200, 5}, Layout::apart, Layout::columns, From::sum, 3});
    }
  });
}

// A matrix of T with the layout of another, whose numbers become those that it holds.
template <class T>
Tensor<T> rounded(Matrix& m) {
  Tensor<T> narrow(m.memory.shape());
  for (std::int64_t i = 0; i < narrow.count(); ++i) {
    narrow.data()[i] = T(m.memory.data()[i]);
    m.memory.data()[i] = static_cast<float>(narrow.data()[i]);
  }
  return narrow;
}

template <class T>
void expect_bits_of_floats(const MatmulSizes& sizes, Layout layout, int threads) {
  SCOPED_TRACE(testing::Message() << sizes.rows << " x " << sizes.depth << " x " << sizes.columns
                                  << " layout " << int(layout));
  const Matrix a = random_matrix(sizes.rows, sizes.depth, Layout::rows, 1);
  Matrix b = random_matrix(sizes.depth, sizes.columns, layout, 2);
  const Tensor<T> narrow = rounded<T>(b);
  const Case test{sizes, Layout::rows, layout, From::bias, threads};
  const std::vector<float> bias = bias_of(test);
  Tensor<float> expected = start_of(test), c = start_of(test);
  matmul(sizes, a.ref, b.ref, result_of(test, expected, bias), threads);
  const MatrixOf<T> stored{narrow.data(), b.ref.row_stride, b.ref.column_stride};
  matmul(sizes, a.ref, stored, result_of(test, c, bias), threads);
  EXPECT_TRUE(same_bits(c, expected));
}

TEST(Matmul, SixteenBitsHaveTheBitsOfTheSameFloats) {
  on_every_target([] {
    for (const std::int64_t rows : {1, 8, 9, 110}) {
      for (const Layout layout : {Layout::rows, Layout::columns, Layout::apart}) {
        for (const std::int64_t columns : {3, 64, 301}) {
          expect_bits_of_floats<bfloat16>({rows, columns, 277}, layout, 2);
          expect_bits_of_floats<float16>({rows, columns, 277}, layout, 1);
        }
      }
    }
  });
}

TEST(Matmul, BlocksOfTheDepthAndOfTheColumnsDoNotShow) {
  for (const From from : {From::zero, From::bias, From::sum}) {
    expect_chains({{3, 40, 256}, Layout::rows, Layout::rows, from});
    expect_chains({{3, 600, 900}, Layout::rows, Layout::columns, from});
    expect_chains({{2, 4096 + 50, 300}, Layout::columns, Layout::rows, from});
  }
}

TEST(Matmul, ThreadsDoNotShow) {
  for (const int threads : {0, 2, 3}) {
    expect_chains({{200, 300, 300}, Layout::rows, Layout::columns, From::bias, threads});
    expect_chains({{200, 300, 300}, Layout::columns, Layout::rows, From::sum, threads});
  }
}

TEST(Matmul, IsDividedByRowsOrColumnsWhereThatIsWorthIt) {
  const auto expect = [](const MatmulSizes& sizes, std::int64_t threads, std::int64_t rows,
                         std::int64_t columns) {
    const Division each = division(sizes, threads);
    EXPECT_EQ(each.rows, rows);
    EXPECT_EQ(each.columns, columns);
  };
  expect({1024, 256, 2048}, 1, 0, 0);
  expect({1024, 256, 2048}, 2, 516, 256);
  expect({256, 1024, 2048}, 2, 256, 512);
  expect({48, 64, 2048}, 2, 0, 0);
  expect({1024, 256, 2048}, 64, 0, 0);
}

TEST(Matmul, ThreadsOnTheirOwnMakeTheBitsOfOne) {
  on_every_target([] {
    for (const MatmulSizes sizes : {MatmulSizes{1003, 200, 300}, {200, 1003, 300}}) {
      for (const Layout layout : {Layout::rows, Layout::columns}) {
        const Matrix a = random_matrix(sizes.rows, sizes.depth, layout, 8);
        const Matrix b = random_matrix(sizes.depth, sizes.columns, Layout::rows, 9);
        Tensor<float> of({sizes.rows, sizes.columns});
        for (std::int64_t i = 0; i < of.count(); ++i) of.data()[i] = i % 3 == 0 ? -1.0F : 1.0F;
        const auto made = [&](int threads) {
          Tensor<float> made_c({sizes.rows, sizes.columns}), made_sums({5, sizes.rows});
          std::fill_n(made_c.data(), made_c.count(), 0.5F);
          matmul(sizes, a.ref, b.ref,
                 {.c = made_c.data(),
                  .c_row = sizes.columns,
                  .add = true,
                  .sums = layout == Layout::columns ? made_sums.data() : nullptr,
                  .sums_row = sizes.rows,
                  .relu_of = of.data()},
                 threads);
          return std::pair(std::move(made_c), std::move(made_sums));
        };
        const auto [c, sums] = made(1);
        for (const int threads : {2, 3}) {
          ASSERT_GT(division(sizes, threads).rows, 0);
          const auto [same_c, same_sums] = made(threads);
          EXPECT_TRUE(same_bits(same_c, c));
          EXPECT_TRUE(same_bits(same_sums, sums));
        }
      }
    }
  });
}

TEST(Matmul, SumsRowsOfATransposedAInTheirOrder) {
  on_every_target([] {
    for (const std::int64_t columns : {40, 1100, 4100}) {
      constexpr std::int64_t kRows = 203, kDepth = 700, kParts = 11;
      const Matrix a = random_matrix(kRows, kDepth, Layout::columns, 3);
      const Matrix b = random_matrix(kDepth, columns, Layout::rows, 4);
      Tensor<float> c({kRows, columns}), sums({kParts + 1, kRows});
      std::fill_n(sums.data(), sums.count(), kUntouched);
      matmul({kRows, columns, kDepth}, a.ref, b.ref,
             {.c = c.data(), .c_row = columns, .sums = sums.data(), .sums_row = kRows}, 3);
      for (std::int64_t i = 0; i < kRows; ++i) {
        for (std::int64_t part = 0; part < kParts; ++part) {
          float sum = 0;
          for (std::int64_t k = 64 * part; k < std::min(kDepth, 64 * part + 64); ++k) {
            sum += a.at(i, k);
          }
          ASSERT_EQ(sums(part, i), sum) << "row " << i << " part " << part;
        }
        ASSERT_EQ(sums(kParts, i), kUntouched);
      }
    }
  });
}

// As by itself afterwards: ReLU, and the slope it has where its result was another matrix.
TEST(Matmul, EndsWithReluOrItsSlope) {
  on_every_target([] {
    for (const MatmulSizes sizes :
         {MatmulSizes{103, 45, 277}, {12, 4130, 600}, {30, 64, 0}, {7, 45, 277}}) {
      const Matrix a = random_matrix(sizes.rows, sizes.depth, Layout::rows, 5);
      const Matrix b = random_matrix(sizes.depth, sizes.columns, Layout::columns, 6);
      Tensor<float> bias({sizes.columns}), of({sizes.rows, sizes.columns});
      std::mt19937 random(7);
      std::uniform_real_distribution<float> number(-1, 1);
      for (float& value : bias.span()) value = number(random);
      for (float& value : of.span()) value = number(random);
      of(0, 0) = 0;
      of(1, 0) = std::numeric_limits<float>::quiet_NaN();
      bias(3) = std::numeric_limits<float>::quiet_NaN();
      Tensor<float> plain(of.shape()), relu(of.shape()), slope(of.shape());
      MatmulResult result{.c = plain.data(), .c_row = sizes.columns, .bias = bias.data()};
      matmul(sizes, a.ref, b.ref, result, 2);
      result.c = relu.data();
      result.relu = true;
      matmul(sizes, a.ref, b.ref, result, 2);
      result.c = slope.data();
      result.relu = false;
      result.relu_of = of.data();
      matmul(sizes, a.ref, b.ref, result, 2);
      for (std::int64_t i = 0; i < plain.count(); ++i) {
        const float x = plain.data()[i];
        if (std::isnan(x)) {
          ASSERT_TRUE(std::isnan(relu.data()[i]) && std::isnan(slope.data()[i]));
        } else {
          ASSERT_EQ(relu.data()[i], x > 0 ? x : 0);
          ASSERT_EQ(slope.data()[i], of.data()[i] <= 0 ? 0 : x);
        }
      }
    }
  });
}

TEST(Matmul, AnyNumberOfRowsGivesTheSameBits) {
  const Matrix a = random_matrix(150, 300, Layout::rows, 1);
  const Matrix b = random_matrix(300, 66, Layout::columns, 2);
  Tensor<float> whole({150, 66}), one({1, 66});
  matmul({150, 66, 300}, a.ref, b.ref, {whole.data(), 66}, 1);
  for (const std::int64_t row : {0, 7, 149}) {
    const MatrixRef from{a.ref.data + row * a.ref.row_stride, a.ref.row_stride, 1};
    matmul({1, 66, 300}, from, b.ref, {one.data(), 66}, 1);
    for (std::int64_t j = 0; j < 66; ++j) ASSERT_EQ(one(0, j), whole(row, j));
  }
}

// Each of the `depth` roundings (two where nothing is fused) is at most 2^-24 of a partial sum, and
// no partial sum exceeds the sum of |a| |b|, to first order: depth * 2^-23 of it in all.
TEST(Matmul, StaysWithinTheBoundOfItsRoundings) {
  on_every_target([] {
    const MatmulSizes s{30, 50, 900};
    const Matrix a = random_matrix(s.rows, s.depth, Layout::rows, 3);
    const Matrix b = random_matrix(s.depth, s.columns, Layout::rows, 4);
    Tensor<float> c({s.rows, s.columns});
    matmul(s, a.ref, b.ref, {c.data(), s.columns}, 1);
    for (std::int64_t i = 0; i < s.rows; ++i) {
      for (std::int64_t j = 0; j < s.columns; ++j) {
        double sum = 0, size = 0;
        for (std::int64_t k = 0; k < s.depth; ++k) {
          const double product = static_cast<double>(a.at(i, k)) * static_cast<double>(b.at(k, j));
          sum += product;
          size += std::fabs(product);
        }
        ASSERT_NEAR(c(i, j), sum, static_cast<double>(s.depth) * 0x1p-23 * size);
      }
    }
  });
}

TEST(Matmul, NothingToAddLeavesTheStart) {
  on_every_target([] {
    for (const From from : {From::zero, From::bias, From::sum}) {
      expect_chains({{5, 37, 0}, Layout::rows, Layout::rows, from});
    }
    expect_chains({{0, 37, 4}});
    expect_chains({{5, 0, 4}});
    expect_chains({{0, 0, 0}});
  });
}

TEST(Matmul, InfinitiesAndNanGoWhereArithmeticTakesThem) {
  on_every_target([] {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    Tensor<float> a({2, 2}), b({2, 3}), c({2, 3});
    a(0, 0) = 0;
    a(0, 1) = 1;
    a(1, 0) = -1;
    a(1, 1) = 1;
    b(0, 0) = kInfinity;
    b(0, 1) = std::numeric_limits<float>::quiet_NaN();
    b(0, 2) = 1;
    b(1, 2) = 5;
    matmul({2, 3, 2}, {a.data(), 2, 1}, {b.data(), 3, 1}, {c.data(), 3}, 1);
    EXPECT_TRUE(std::isnan(c(0, 0)));  // 0 times infinity
    EXPECT_EQ(c(1, 0), -kInfinity);
    EXPECT_TRUE(std::isnan(c(0, 1)) && std::isnan(c(1, 1)));
    EXPECT_EQ(c(0, 2), 5);
    EXPECT_EQ(c(1, 2), 4);
  });
}

TEST(Matmul, SeveralThreadsMayCallAtOnce) {
  const Case test{{150, 300, 500}, Layout::rows, Layout::columns};
  const Matrix a = random_matrix(150, 500, test.a, 1);
  const Matrix b = random_matrix(500, 300, test.b, 2);
  const Tensor<float> expected = chains(test, a, b);
  std::vector<std::thread> threads;
  std::vector<Tensor<float>> results(4);
  for (Tensor<float>& c : results) {
    threads.emplace_back([&] {
      c = start_of(test);
      matmul(test.sizes, a.ref, b.ref, {c.data(), c.size(1)}, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Tensor<float>& c : results) EXPECT_TRUE(same_bits(c, expected));
}

TEST(Matmul, AThreadMayMultiplyOthersWhileItWaits) {
  const Case test{{64, 512, 200}, Layout::rows, Layout::columns};
  ASSERT_EQ(division(test.sizes, 3).rows, 0) << "all threads share what one of them has packed";
  const Matrix a = random_matrix(64, 200, test.a, 1);
  const Matrix b = random_matrix(200, 512, test.b, 2), other = random_matrix(200, 512, test.b, 3);
  const Tensor<float> expected = chains(test, a, b), expected_other = chains(test, a, other);
  Tensor<float> c = start_of(test);
  StealingExecutor executor([&] {
    Tensor<float> d = start_of(test);
    matmul(test.sizes, a.ref, other.ref, {d.data(), d.size(1)}, 3);
    EXPECT_TRUE(same_bits(d, expected_other));
  });
  matmul(test.sizes, a.ref, b.ref, {c.data(), c.size(1)}, 3);
  EXPECT_TRUE(same_bits(c, expected));
  EXPECT_EQ(executor.stolen(), 2) << "packing and multiplying";
}

}  // namespace
}  // namespace sextant::kernels
