// Sinks and a window: the first keys are never hidden from later queries, the rest by distance.
#include "sextant/schemes/indexed/sink_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "schemes/indexed/indexed_checks.h"

namespace sextant::sink_window_test {
namespace {

using ::testing::HasSubstr;
using List = std::vector<std::int64_t>;

testing::PairFormula plain(List ids, std::int64_t first_keys, std::int64_t window) {
  return [=](std::int64_t, std::int64_t query, std::int64_t key) {
    const std::int64_t i = ids[static_cast<std::size_t>(query)];
    const std::int64_t j = ids[static_cast<std::size_t>(key)];
    const bool seen = j <= i && (j < first_keys || j > i - window);
    return seen ? 0 : testing::kHidden;
  };
}

TEST(SinkWindow, ShowsTheFirstKeysAndTheLastOnes) {
  const Tensor<float> pairs = testing::pairs_of(*sink_window({1, 2}, List{0, 1, 2, 3, 4}), 0, 5);
  constexpr float kNot = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(std::vector<float>(pairs.span().begin(), pairs.span().end()),
              ::testing::ElementsAre(0, kNot, kNot, kNot, kNot,  //
                                     0, 0, kNot, kNot, kNot,     //
                                     0, 0, 0, kNot, kNot,        //
                                     0, kNot, 0, 0, kNot,        //
                                     0, kNot, kNot, 0, 0));
}

TEST(SinkWindow, IsTheSameInAnyTileAndForAnyIds) {
  for (const std::int64_t first_keys : {0, 1, 3, 40}) {
    for (const std::int64_t window : {1, 2, 5, 100}) {
      testing::expect_pairs(*sink_window({first_keys, window}, testing::kOddIds), 2, 15,
                            plain(testing::kOddIds, first_keys, window));
    }
  }
  const testing::Asked asked(20, 2, {{"first_keys", "2"}, {"window", "4"}});
  const List ids(asked.request.positions.begin(), asked.request.positions.end());
  testing::expect_pairs(*testing::indexed_bias_of("sink_window", asked.request), 2, 20,
                        plain(ids, 2, 4));
}

TEST(SinkWindow, KnowsTilesThatItHidesOrLeaves) {
  const auto mask = sink_window({1, 3}, List{0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(testing::effect_of(*mask, 6, 2, 1, 3), TermEffect::hides);
  EXPECT_EQ(testing::effect_of(*mask, 6, 2, 0, 3), TermEffect::some);
  EXPECT_EQ(testing::effect_of(*mask, 6, 2, 0, 1), TermEffect::none);
  EXPECT_EQ(testing::effect_of(*mask, 6, 2, 4, 2), TermEffect::some);
  EXPECT_EQ(testing::effect_of(*mask, 6, 1, 5, 2), TermEffect::none);
}

TEST(SinkWindow, GoesByTheIdsThatACallGives) {
  testing::expect_ids_of_tiles(*sink_window({1, 3}, List{9}),
                               *sink_window({1, 3}, testing::kOddIds), testing::kOddIds);
}

TEST(SinkWindow, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("sink_window", {{"first_keys", "-1"}}),
            "[sink_window.first_keys] must be at least 0, got -1");
  EXPECT_EQ(testing::refusal("sink_window", {{"window", "0"}}),
            "[sink_window.window] must be at least 1, got 0");
  EXPECT_THAT(error_of([] { sink_window({}, List{(std::int64_t{1} << 53) + 1}); }),
              HasSubstr("[sink_window.positions] must be within -2^53 .. 2^53"));
  testing::Asked pairs(4, 2);
  pairs.request.axes = 2;
  EXPECT_THAT(error_of([&] { find_scheme("sink_window").make(pairs.request); }),
              HasSubstr("[sink_window.positions] must have one id per token, got 2"));
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const List far{std::int64_t{1} << 53, -(std::int64_t{1} << 53), 0};
  testing::expect_pairs(*sink_window({0, kMax}, far), 1, 3, plain(far, 0, std::int64_t{1} << 60));
  testing::expect_pairs(*sink_window({kMax, 1}, far), 1, 3, plain(far, kMax, 1));
  testing::expect_pairs(*sink_window({}, {}), 1, 0, plain({}, 0, 1));
}

}  // namespace
}  // namespace sextant::sink_window_test
