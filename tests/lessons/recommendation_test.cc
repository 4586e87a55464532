// Users and items by their attributes, from tables with names.
#include "sextant/lessons/recommendation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(std::string_view text) {
  return error_of([&] { parse_named_table(text, "t.csv"); });
}

TEST(Recommend, ScoresMoviesByTheirAttributes) {
  Tensor<double> users({2, 3}), items({2, 3});
  std::ranges::copy(std::vector<double>{1, 0, 0, 0, 1, 1}, users.data());
  std::ranges::copy(std::vector<double>{3, 0, 0, 0, 2, 1}, items.data());
  const Recommendation result = recommend(users, items);
  // Each within three roundings of the true score.
  EXPECT_NEAR(result.scores(0, 0), std::sqrt(3.0), 3 * 0x1p-52);
  EXPECT_EQ(result.scores(0, 1), 0);
  EXPECT_EQ(result.scores(1, 0), 0);
  EXPECT_NEAR(result.scores(1, 1), std::sqrt(3.0), 3 * 0x1p-52);
  const double likes = 1 / (1 + std::exp(-std::sqrt(3.0)));
  EXPECT_NEAR(result.weights(0, 0), likes, 8 * 0x1p-52);
  EXPECT_NEAR(result.weights(1, 0), 1 - likes, 8 * 0x1p-52);
  EXPECT_THROW(recommend(users, Tensor<double>({2, 4})), Error);
  EXPECT_THROW(recommend(users, Tensor<double>({0, 3})), Error);
  EXPECT_THROW(recommend(Tensor<double>({3}), items), Error);
}

TEST(Recommend, MatchesAttributesByName) {
  const NamedTable users = parse_named_table("name,action,romance\nAnn,1,-0.5\nBo,0.25,1\n", "u");
  const NamedTable items = parse_named_table("film,romance,action\nHeat,-1,1\nEmma,1,0\n", "i");
  const Recommendation result = recommend(users, items);
  // (1 * 1 + -0.5 * -1) / sqrt(2), within three roundings.
  EXPECT_NEAR(result.scores(0, 0), 1.5 / std::sqrt(2.0), 3 * 0x1p-52);
  EXPECT_NEAR(result.scores(1, 1), 1 / std::sqrt(2.0), 3 * 0x1p-52);
  for (const char* other : {"film,romance\nHeat,1\n", "film,romance,action,war\nHeat,1,1,1\n",
                            "film,romance,war\nHeat,1,1\n"}) {
    EXPECT_THROW(recommend(users, parse_named_table(other, "i")), Error) << other;
  }
}

TEST(NamedTable, IsReadAsSpreadsheetsWriteIt) {
  const NamedTable table = parse_named_table(
      "\xef\xbb\xbf"
      "name , a,\"b, \"\"x\"\"\"\r\n\r\n\"O'Hara\nSr.\" ,1, -2.5e-1\r\nBo,3,4",
      "t");
  EXPECT_EQ(table.row_name, "name");
  EXPECT_THAT(table.columns, ElementsAre("a", "b, \"x\""));
  EXPECT_THAT(table.rows, ElementsAre("O'Hara\nSr.", "Bo"));
  EXPECT_EQ(table.values(0, 1), -0.25);
  EXPECT_EQ(table.values(1, 0), 3);
}

TEST(NamedTable, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(refusal(""), HasSubstr("must have a row of names"));
  EXPECT_THAT(refusal("name\nAnn\n"), HasSubstr("[t.csv line 1] must name at least one column"));
  EXPECT_THAT(refusal("name,a\n"), HasSubstr("must have rows below the names"));
  EXPECT_THAT(refusal("name,a,a\nx,1,2\n"), HasSubstr("must not have the column 'a' twice"));
  EXPECT_THAT(refusal("name,a,\nx,1,2\n"), HasSubstr("must name every column"));
  EXPECT_THAT(refusal("name,a\nx,1\n\nx,2\n"),
              HasSubstr("[t.csv line 4] must not have the row 'x' twice"));
  EXPECT_THAT(refusal("name,a\nx,1,2\n"), HasSubstr("must have a name and 1 numbers, got 3"));
  EXPECT_THAT(refusal("name,a\nx,one\n"), HasSubstr("[t.csv line 2]"));
  EXPECT_THAT(refusal("name,a\nx,inf\n"), HasSubstr("must be finite"));
  EXPECT_THAT(refusal("name,a\n\"x,1\n"), HasSubstr("[t.csv line 2] must end its quoted field"));
  EXPECT_THAT(refusal("name,a\n\"x\"y,1\n"), HasSubstr("must have a comma after"));
  EXPECT_THAT(refusal("name,a\n\xff,1\n"), HasSubstr("t.csv"));
  EXPECT_THAT(refusal("name,a\n\"p\nq\",1\nx,y\n"), HasSubstr("[t.csv line 4]"));
}

}  // namespace
}  // namespace sextant
