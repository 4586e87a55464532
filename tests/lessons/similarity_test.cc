// Cosine similarities: exact cases, the chapter's numbers, and what mixing positions in does.
#include "sextant/lessons/similarity.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/random.h"

namespace sextant {
namespace {

double similarity(const std::vector<double>& a, const std::vector<double>& b) {
  return cosine_similarity(View<const double>(a.data(), {static_cast<std::int64_t>(a.size())}),
                           View<const double>(b.data(), {static_cast<std::int64_t>(b.size())}));
}

TEST(CosineSimilarity, IsExactWhereTheTruthIsANumber) {
  EXPECT_EQ(similarity({3, 4}, {3, 4}), 1);
  EXPECT_EQ(similarity({3, 4}, {-6, -8}), -1);
  EXPECT_EQ(similarity({1, 0, 0}, {0, 0, 1}), 0);
  EXPECT_EQ(similarity({3, 4}, {4, 3}), 24.0 / 25);
  EXPECT_EQ(similarity({0.1, 0.7, -0.3}, {0.1, 0.7, -0.3}), 1);
  EXPECT_EQ(similarity({1, 1}, {1, 0}), std::sqrt(0.5));
}

TEST(CosineSimilarity, KeepsWhatCancels) {
  // (10^8 + 1)(10^8 - 1) - 10^16 + 1 = 0; a float64 sum loses the ones.
  EXPECT_EQ(similarity({1e8 + 1, 1e8, 1}, {1e8 - 1, -1e8, 1}), 0);
}

TEST(CosineSimilarity, DoesNotDependOnTheScale) {
  const double one = similarity({1, 2, 3}, {-2, 5, 1});
  for (const double scale : {0x1p1020, 0x1p-1020, 0x1p-1060}) {
    EXPECT_EQ(similarity({scale, 2 * scale, 3 * scale}, {-2, 5, 1}), one) << scale;
    EXPECT_EQ(similarity({scale, 2 * scale, 3 * scale}, {-2 * scale, 5 * scale, scale}), one)
        << scale;
  }
}

// The true values, for rows 2 and 10 of the true table, are 0.72252008324682734... and
// 0.86000133313923758... (computed with 300 bits). The chapter and the course print the last digits
// ...275 and ...378, one and two units in the last place away.
TEST(CosineSimilarity, GivesTheChaptersNumbers) {
  const auto of_rows = [](Exponent exponent) {
    Sinusoidal options{.length = 11, .width = 512, .exponent = exponent};
    const Tensor<double> table = sinusoidal<double>(options);
    return cosine_similarity(table.view().select(0, 2), table.view().select(0, 10));
  };
  constexpr double kUlp = 0x1p-53;  // of numbers in [0.5, 1)
  const double formula = of_rows(Exponent::standard), doubled = of_rows(Exponent::doubled);
  EXPECT_NEAR(formula, 0.72252008324682734, kUlp);
  EXPECT_NEAR(formula, 0.7225200832468275, 2 * kUlp);
  EXPECT_NEAR(doubled, 0.86000133313923758, kUlp);
  EXPECT_NEAR(doubled, 0.8600013331392378, 2 * kUlp);
}

TEST(CosineSimilarity, RefusesWhatHasNoAngle) {
  EXPECT_THROW(similarity({1, 2}, {1, 2, 3}), Error);
  EXPECT_THROW(similarity({0, 0}, {1, 2}), Error);
  EXPECT_THROW(similarity({1, 2}, {0, 0}), Error);
  EXPECT_THROW(similarity({}, {}), Error);
  EXPECT_THROW(similarity({1, INFINITY}, {1, 2}), Error);
  EXPECT_THROW(similarity({1, std::numeric_limits<double>::quiet_NaN()}, {1, 2}), Error);
  const Tensor<double> matrix({2, 2});
  EXPECT_THROW(cosine_similarity(matrix, matrix), Error);
}

TEST(CosineSimilarities, AreSymmetricWithOnesOnTheDiagonalForAnyThreads) {
  NumpyRandom random(5);
  Tensor<double> rows({7, 33});
  for (double& value : rows.span()) value = random.normal();
  const Tensor<double> map = cosine_similarities(rows, 1);
  const Tensor<double> again = cosine_similarities(rows, 3);
  ASSERT_EQ(map.shape(), Shape({7, 7}));
  for (std::int64_t i = 0; i < 7; ++i) {
    EXPECT_EQ(map(i, i), 1);
    for (std::int64_t j = 0; j < 7; ++j) {
      EXPECT_EQ(map(i, j), map(j, i));
      EXPECT_EQ(map(i, j), again(i, j));
      EXPECT_EQ(map(i, j), cosine_similarity(rows.view().select(0, i), rows.view().select(0, j)));
    }
  }
  EXPECT_THROW(cosine_similarities(Tensor<double>({2, 3})), Error);
  EXPECT_THROW(cosine_similarities(Tensor<double>({6})), Error);
  EXPECT_EQ(cosine_similarities(Tensor<double>({0, 3})).count(), 0);
}

class Mixed : public testing::Test {
 protected:
  static constexpr std::int64_t kWidth = 512;
  Mixed() : vectors_({"black", "brown"}, random_rows()) { options_.width = kWidth; }
  static Tensor<float> random_rows() {
    NumpyRandom random(6);
    Tensor<float> rows({2, kWidth});
    for (float& value : rows.span()) value = static_cast<float>(random.normal() * 0.01);
    return rows;
  }
  WordVectors vectors_;
  Sinusoidal options_;
};

TEST_F(Mixed, ShowsWordPositionAndBoth) {
  const MixedSimilarity mixed = mixed_similarity(vectors_, "black", "brown", 2, 10, options_);
  const std::array<std::int64_t, 2> ids{2, 10};
  const Tensor<double> positions = sinusoidal<double>(options_, ids);
  // Long double sums from the formula: 512 products, so 512 x 2^-64 of their magnitude at most, far
  // below 1e-15.
  const auto by_formula = [&](double word_scale, double position_scale) {
    long double dot = 0, aa = 0, bb = 0;
    for (std::int64_t i = 0; i < kWidth; ++i) {
      const long double a = word_scale * vectors_["black"](i) + position_scale * positions(0, i);
      const long double b = word_scale * vectors_["brown"](i) + position_scale * positions(1, i);
      dot += a * b;
      aa += a * a;
      bb += b * b;
    }
    return static_cast<double>(dot / std::sqrt(aa * bb));
  };
  EXPECT_NEAR(mixed.word, by_formula(1, 0), 1e-15);
  EXPECT_NEAR(mixed.position, by_formula(0, 1), 1e-15);
  EXPECT_NEAR(mixed.both, by_formula(std::sqrt(512.0), 1), 1e-15);
  EXPECT_NEAR(mixed.position, 0.7225200832468275, 0x1p-52);
  EXPECT_EQ(mixed_similarity(vectors_, "black", "black", 3, 3, options_).both, 1);
}

TEST_F(Mixed, RefusesAnotherWidthAndUnknownWords) {
  EXPECT_THROW(mixed_similarity(vectors_, "black", "green", 2, 10, options_), Error);
  options_.width = 256;
  EXPECT_THROW(mixed_similarity(vectors_, "black", "brown", 2, 10, options_), Error);
}

}  // namespace
}  // namespace sextant
