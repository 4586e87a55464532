// ALiBi on images: slopes times distances on the grid.
#include "sextant/schemes/indexed/alibi_2d.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "schemes/indexed/indexed_checks.h"

namespace sextant::alibi_2d_test {
namespace {

using ::testing::HasSubstr;
using List = std::vector<std::int64_t>;

TEST(Alibi2d, FallsWithTheDistanceOfTwoPatches) {
  List ids;
  for (std::int64_t id = 0; id < 30; ++id) ids.push_back(id);
  // Right angles of 3, 4 and 5.
  const auto bias = alibi_2d({.heads = 2, .rows = 5, .columns = 6}, ids);
  EXPECT_EQ(testing::pairs_of(*bias, 0, 30)(0, 4 * 6 + 3), -5 * 0x1p-4F);
  EXPECT_EQ(testing::pairs_of(*bias, 1, 30)(6 + 5, 4 * 6 + 2), -0x1p-8F * std::sqrt(18.0F));
  testing::expect_pairs(
      *bias, 2, 30,
      [](std::int64_t head, std::int64_t query, std::int64_t key) {
        const auto down = static_cast<double>(query / 6 - key / 6);
        const auto across = static_cast<double>(query % 6 - key % 6);
        return -(head == 0 ? 0x1p-4 : 0x1p-8) * std::sqrt(down * down + across * across);
      },
      0x1p-50);
}

TEST(Alibi2d, OfOneRowIsAlibi) {
  const testing::Asked asked(9, 3, {{"rows", "1"}});
  testing::expect_pairs(*testing::indexed_bias_of("alibi_2d", asked.request), 3, 9,
                        [](std::int64_t head, std::int64_t query, std::int64_t key) {
                          const double slopes[] = {0x1p-4, 0x1p-8, 0x1p-2};
                          return -slopes[head] * std::abs(static_cast<double>(query - key));
                        });
}

TEST(Alibi2d, LearnsNothing) { EXPECT_EQ(alibi_2d({}, List{0, 1})->needs().parameters, 0); }

TEST(Alibi2d, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("alibi_2d", {{"rows", "1"}, {"columns", "2"}}),
            "[alibi_2d.positions] must be 0 .. 1, the cells of 1 x 2, got 3");
  EXPECT_THAT(testing::refusal("alibi_2d", {{"max_bias", "-1"}}), HasSubstr("[alibi_2d.max_bias]"));
  EXPECT_THAT(testing::refusal("alibi_2d", {}, 0), HasSubstr("[alibi_2d.heads]"));
}

}  // namespace
}  // namespace sextant::alibi_2d_test
