// Prefix masks: the prefix is seen by all, the rest by what comes later.
#include "sextant/schemes/indexed/prefix_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "schemes/indexed/indexed_checks.h"

namespace sextant::prefix_mask_test {
namespace {

using ::testing::HasSubstr;

testing::PairFormula plain(std::vector<std::int64_t> ids, std::int64_t prefix) {
  return [=](std::int64_t, std::int64_t query, std::int64_t key) {
    const std::int64_t i = ids[static_cast<std::size_t>(query)];
    const std::int64_t j = ids[static_cast<std::size_t>(key)];
    return j < prefix || j <= i ? 0 : testing::kHidden;
  };
}

TEST(PrefixMask, ShowsThePrefixToAllAndHidesTheRestOfTheFuture) {
  const Tensor<float> pairs = testing::pairs_of(*prefix_mask({2}, {{0, 1, 2, 3}}), 0, 4);
  constexpr float kNot = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(std::vector<float>(pairs.span().begin(), pairs.span().end()),
              ::testing::ElementsAre(0, 0, kNot, kNot,  //
                                     0, 0, kNot, kNot,  //
                                     0, 0, 0, kNot,     //
                                     0, 0, 0, 0));
}

TEST(PrefixMask, IsTheSameInAnyTileAndForAnyIds) {
  for (const std::int64_t prefix : {0, 1, 3, 40}) {
    testing::expect_pairs(*prefix_mask({prefix}, testing::kOddIds), 2, 15,
                          plain(testing::kOddIds, prefix));
  }
  const testing::Asked asked(20, 2, {{"prefix", "5"}});
  std::vector<std::int64_t> ids(asked.request.positions.begin(), asked.request.positions.end());
  testing::expect_pairs(*testing::indexed_bias_of("prefix_mask", asked.request), 2, 20,
                        plain(ids, 5));
}

TEST(PrefixMask, GoesByTheIdsThatACallGives) {
  testing::expect_ids_of_tiles(*prefix_mask({3}, {{9}}), *prefix_mask({3}, testing::kOddIds),
                               testing::kOddIds);
}

TEST(PrefixMask, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("prefix_mask", {{"prefix", "-1"}}),
            "[prefix_mask.prefix] must be at least 0, got -1");
  EXPECT_THAT(error_of([] { prefix_mask({0}, {{(std::int64_t{1} << 53) + 1}}); }),
              HasSubstr("[prefix_mask.positions] must be within -2^53 .. 2^53"));
  testing::Asked pairs(4, 2);
  pairs.request.axes = 2;
  EXPECT_THAT(error_of([&] { find_scheme("prefix_mask").make(pairs.request); }),
              HasSubstr("[prefix_mask.positions] must have one id per token, got 2"));
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  testing::expect_pairs(*prefix_mask({kMax}, {{0, -5}}), 1, 2, plain({0, -5}, kMax));
  testing::expect_pairs(*prefix_mask({0}, {}), 1, 0, plain({}, 0));
}

}  // namespace
}  // namespace sextant::prefix_mask_test
