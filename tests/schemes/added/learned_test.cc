// Learned positions: the rows of a file, by id, and nothing beyond it.
#include "sextant/schemes/added/learned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "sextant/core/npy.h"
#include "sextant/schemes/scheme.h"
#include "support/error_of.h"

namespace sextant::learned_test {
namespace {

using ::testing::HasSubstr;

template <class T>
Tensor<T> counting(std::int64_t rows, std::int64_t width) {
  Tensor<T> table({rows, width});
  for (std::int64_t i = 0; i < table.count(); ++i)
    table.data()[i] = static_cast<T>(static_cast<double>(i));
  return table;
}

std::string file_of(const std::string& name) {
  return ::testing::TempDir() + "learned_" + name + ".npy";
}

TEST(LearnedPositions, GivesTheRowsAskedFor) {
  const LearnedPositions learned(counting<float>(5, 3));
  EXPECT_EQ(learned.length(), 5);
  EXPECT_EQ(learned.width(), 3);
  const std::int64_t positions[] = {4, 0, 4};
  const Tensor<float> rows = learned.rows(positions);
  ASSERT_EQ(rows.shape(), Shape({3, 3}));
  EXPECT_THAT(std::vector<float>(rows.span().begin(), rows.span().end()),
              ::testing::ElementsAre(12, 13, 14, 0, 1, 2, 12, 13, 14));
}

TEST(LearnedPositions, AnOffsetSkipsTheRowsKeptForPadding) {
  const LearnedPositions learned(counting<float>(514, 2), 2);
  EXPECT_EQ(learned.length(), 512);
  const std::int64_t positions[] = {0, 511};
  const Tensor<float> rows = learned.rows(positions);
  EXPECT_EQ(rows(0, 0), 4);
  EXPECT_EQ(rows(1, 1), 1027);
}

TEST(LearnedPositions, NoPositionsGiveNoRows) {
  const LearnedPositions learned(counting<float>(2, 3));
  EXPECT_EQ(learned.rows({}).shape(), Shape({0, 3}));
}

TEST(LearnedPositions, ThereIsNothingBeyondTheTable) {
  const LearnedPositions learned(counting<float>(5, 3), 2);
  const std::int64_t late[] = {0, 3};
  EXPECT_EQ(error_of([&] { learned.rows(late); }),
            "[learned.positions] must be 0 .. 2, the positions of this table, got 3");
  const std::int64_t early[] = {-1};
  EXPECT_THAT(error_of([&] { learned.rows(early); }), HasSubstr("got -1"));
  const std::int64_t extreme[] = {std::numeric_limits<std::int64_t>::max()};
  EXPECT_THAT(error_of([&] { learned.rows(extreme); }), HasSubstr("[learned.positions]"));
}

TEST(LearnedPositions, RefusesTablesThatAreNone) {
  EXPECT_THAT(error_of([] { LearnedPositions(Tensor<float>({2, 3, 4})); }), HasSubstr("[2, 3, 4]"));
  EXPECT_THAT(error_of([] { LearnedPositions(Tensor<float>({0, 3})); }), HasSubstr("[0, 3]"));
  EXPECT_THAT(error_of([] { LearnedPositions(counting<float>(4, 2), 4); }), HasSubstr("0 .. 3"));
  EXPECT_THAT(error_of([] { LearnedPositions(counting<float>(4, 2), -1); }), HasSubstr("got -1"));
  Tensor<float> table = counting<float>(4, 2);
  table(2, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error_of([&] { LearnedPositions(table.clone()); }), HasSubstr("row 2, column 1"));
}

TEST(LearnedPositions, ComeFromFilesOfAnyFloatType) {
  save_npy(file_of("f64"), counting<double>(3, 2));
  save_npy(file_of("f32"), counting<float>(3, 2));
  save_npy(file_of("f16"), counting<float16>(3, 2));
  for (const char* name : {"f64", "f32", "f16"}) {
    const LearnedPositions learned = LearnedPositions::load(file_of(name), 1);
    EXPECT_EQ(learned.length(), 2) << name;
    const std::int64_t positions[] = {1};
    EXPECT_EQ(learned.rows(positions)(0, 1), 5) << name;
  }
}

TEST(LearnedPositions, FilesOfIntegersAreRefused) {
  save_npy(file_of("i32"), counting<std::int32_t>(3, 2));
  EXPECT_THAT(error_of([] { LearnedPositions::load(file_of("i32")); }), HasSubstr("got int32"));
}

TEST(LearnedPositions, ValuesBeyondFloat32AreRefused) {
  Tensor<double> table = counting<double>(3, 2);
  table(0, 1) = 1e300;
  save_npy(file_of("huge"), table);
  EXPECT_THAT(error_of([] { LearnedPositions::load(file_of("huge")); }),
              HasSubstr("row 0, column 1"));
}

TEST(LearnedScheme, AddsTheRowsOfItsFile) {
  save_npy(file_of("scheme"), counting<float>(6, 2));
  SchemeRequest asked;
  const std::int64_t positions[] = {3, 1};
  asked.width = 2;
  asked.positions = positions;
  asked.parameters = {{"file", file_of("scheme")}, {"offset", "2"}};
  const Scheme& learned = find_scheme("learned");
  EXPECT_EQ(learned.kind, SchemeKind::added);
  const SchemeTable made = learned.make(asked);
  const Tensor<double>& table = std::get<Tensor<double>>(made);
  ASSERT_EQ(table.shape(), Shape({2, 2}));
  EXPECT_EQ(table(0, 0), 10);
  EXPECT_EQ(table(1, 1), 7);
  asked.width = 4;
  EXPECT_EQ(error_of([&] { learned.make(asked); }),
            "[learned.file] must hold a table of width 4, got 2");
}

TEST(LearnedScheme, WithoutAFileStandsWhereTrainingStarts) {
  SchemeRequest asked;
  const std::int64_t positions[] = {7, 2};
  asked.width = 4;
  asked.positions = positions;
  asked.parameters = {{"seed", "3"}, {"offset", "1"}};
  const Scheme& learned = find_scheme("learned");
  const SchemeWeights start = learned.initial_weights(asked);
  const SchemeTable made = learned.make(asked);
  const Tensor<double>& table = std::get<Tensor<double>>(made);
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(table(0, i), start.at("table")(8, i));
    EXPECT_EQ(table(1, i), start.at("table")(3, i));
  }
  const std::int64_t far[] = {std::int64_t{1} << 40};
  asked.positions = far;
  EXPECT_THAT(error_of([&] { learned.make(asked); }),
              HasSubstr("[learned.positions] must be in a table of at most 2^28 numbers"));
}

TEST(LearnedPositions, ClampedTablesEndWithTheirLastRow) {
  const LearnedPositions learned(counting<float>(5, 2), 1, true);
  const std::int64_t positions[] = {3, 4, std::numeric_limits<std::int64_t>::max()};
  const Tensor<float> rows = learned.rows(positions);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_EQ(rows(i, 0), 8);
  const std::int64_t early[] = {-1};
  EXPECT_THAT(error_of([&] { learned.rows(early); }), HasSubstr("0 or more, got -1"));
}

TEST(LearnedBackward, GivesEachRowTheSumOfItsUses) {
  const std::int64_t positions[] = {2, 0, 2, 9};
  const Tensor<double> table = learned_backward(positions, counting<double>(4, 3), 5, 1, true);
  ASSERT_EQ(table.shape(), Shape({5, 3}));
  EXPECT_THAT(std::vector<double>(table.span().begin(), table.span().end()),
              ::testing::ElementsAre(0, 0, 0, 3, 4, 5, 0, 0, 0, 6, 8, 10, 9, 10, 11));
  EXPECT_THAT(error_of([&] { learned_backward(positions, counting<double>(4, 3), 5); }),
              HasSubstr("[learned.positions] must be 0 .. 4"));
  EXPECT_THAT(error_of([&] { learned_backward(positions, counting<double>(3, 3), 5); }),
              HasSubstr("[learned.gradient]"));
  EXPECT_THAT(error_of([&] { learned_backward(positions, counting<double>(4, 3), 5, 5); }),
              HasSubstr("[learned.offset]"));
}

SchemeRequest with_weights(const SchemeWeights& weights, std::span<const std::int64_t> positions) {
  SchemeRequest asked{.width = 2, .positions = positions, .weights = &weights};
  return asked;
}

TEST(LearnedScheme, TakesItsTableFromTheWeights) {
  SchemeWeights weights;
  weights.emplace("table", counting<double>(6, 2));
  const std::int64_t positions[] = {3, 1, 7};
  SchemeRequest asked = with_weights(weights, positions);
  asked.parameters = {{"offset", "2"}, {"clamp", "yes"}};
  const Scheme& learned = find_scheme("learned");
  const auto table = std::get<Tensor<double>>(learned.make(asked));
  EXPECT_THAT(std::vector<double>(table.span().begin(), table.span().end()),
              ::testing::ElementsAre(10, 11, 6, 7, 10, 11));
  asked.parameters["file"] = "x.npy";
  EXPECT_THAT(error_of([&] { learned.make(asked); }), HasSubstr("together with the weight table"));
  asked.parameters.erase("file");
  asked.width = 3;
  EXPECT_THAT(error_of([&] { learned.make(asked); }),
              HasSubstr("[learned.table] must be [rows, 3] with at least one row, got [6, 2]"));
  SchemeWeights wrong;
  wrong.emplace("rows", counting<double>(6, 2));
  EXPECT_THAT(error_of([&] { learned.make(with_weights(wrong, positions)); }),
              HasSubstr("[learned.table] must be among the weights"));
}

TEST(LearnedScheme, TrainingStartsWithSmallSeededNumbers) {
  const std::int64_t positions[] = {0, 400};
  SchemeRequest asked{
      .width = 64, .positions = positions, .parameters = {{"offset", "2"}, {"seed", "5"}}};
  const Scheme& learned = find_scheme("learned");
  const SchemeWeights weights = learned.initial_weights(asked);
  const Tensor<double>& table = weights.at("table");
  ASSERT_EQ(table.shape(), Shape({403, 64}));
  double squares = 0;
  for (const double x : table.span()) squares += x * x;
  // The deviation of 25792 normal numbers is known to 1 / sqrt(2 * 25792), 0.4 %: five of those.
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(table.count())), 0.02, 0.02 * 0.022);
  EXPECT_EQ(learned.initial_weights(asked).at("table")(402, 63), table(402, 63));
  asked.parameters["seed"] = "6";
  EXPECT_NE(learned.initial_weights(asked).at("table")(402, 63), table(402, 63));
  asked.parameters["seed"] = "-1";
  EXPECT_THAT(error_of([&] { learned.initial_weights(asked); }), HasSubstr("[learned.seed]"));
}

// The loss is linear in the table, so a difference is the gradient but for roundings: with weights
// 0 .. 11, steps of 2^-10 and small whole numbers everything is exact.
TEST(LearnedScheme, GradientsAreThoseOfDifferences) {
  const std::int64_t positions[] = {3, 1, 3, 8};
  const Tensor<double> of_rows = counting<double>(4, 2);
  const auto loss = [&](const SchemeWeights& weights) {
    SchemeRequest asked = with_weights(weights, positions);
    asked.parameters = {{"clamp", "yes"}};
    const auto table = std::get<Tensor<double>>(find_scheme("learned").make(asked));
    double sum = 0;
    for (std::int64_t i = 0; i < table.count(); ++i) sum += table.data()[i] * of_rows.data()[i];
    return sum;
  };
  SchemeWeights weights;
  weights.emplace("table", counting<double>(6, 2));
  SchemeRequest asked = with_weights(weights, positions);
  asked.parameters = {{"clamp", "yes"}};
  const SchemeWeights gradient = find_scheme("learned").backward(asked, of_rows);
  for (std::int64_t i = 0; i < 12; ++i) {
    double& x = weights.at("table").data()[i];
    const double kept = x;
    x = kept + 0x1p-10;
    const double above = loss(weights);
    x = kept - 0x1p-10;
    const double below = loss(weights);
    x = kept;
    EXPECT_EQ(gradient.at("table").data()[i], (above - below) / 0x1p-9);
  }
}

}  // namespace
}  // namespace sextant::learned_test
