// Learned positions: the rows of a file, by id, and nothing beyond it.
#include "sextant/schemes/learned.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/npy.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
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

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
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
  EXPECT_EQ(message_of([&] { learned.rows(late); }),
            "[learned.positions] must be 0 .. 2, the positions of this table, got 3");
  const std::int64_t early[] = {-1};
  EXPECT_THAT(message_of([&] { learned.rows(early); }), HasSubstr("got -1"));
  const std::int64_t extreme[] = {std::numeric_limits<std::int64_t>::max()};
  EXPECT_THAT(message_of([&] { learned.rows(extreme); }), HasSubstr("[learned.positions]"));
}

TEST(LearnedPositions, RefusesTablesThatAreNone) {
  EXPECT_THAT(message_of([] {
                LearnedPositions(Tensor<float>({2, 3, 4}));
              }),
              HasSubstr("[2, 3, 4]"));
  EXPECT_THAT(message_of([] { LearnedPositions(Tensor<float>({0, 3})); }), HasSubstr("[0, 3]"));
  EXPECT_THAT(message_of([] { LearnedPositions(counting<float>(4, 2), 4); }), HasSubstr("0 .. 3"));
  EXPECT_THAT(message_of([] { LearnedPositions(counting<float>(4, 2), -1); }), HasSubstr("got -1"));
  Tensor<float> table = counting<float>(4, 2);
  table(2, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(message_of([&] { LearnedPositions(table.clone()); }), HasSubstr("row 2, column 1"));
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
  EXPECT_THAT(message_of([] { LearnedPositions::load(file_of("i32")); }), HasSubstr("got int32"));
}

TEST(LearnedPositions, ValuesBeyondFloat32AreRefused) {
  Tensor<double> table = counting<double>(3, 2);
  table(0, 1) = 1e300;
  save_npy(file_of("huge"), table);
  EXPECT_THAT(message_of([] { LearnedPositions::load(file_of("huge")); }),
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
  EXPECT_EQ(message_of([&] { learned.make(asked); }),
            "[learned.file] must hold a table of width 4, got 2");
}

}  // namespace
}  // namespace sextant
