// Shardings, and moving between them.
#include "sextant/ranks/sharding.h"

#include <gtest/gtest.h>

#include <numeric>

#include "ranks/world.h"
#include "sextant/core/error.h"

namespace sextant::ranks::sharding_test {
namespace {

constexpr Sharding kShardings[] = {Sharding::contiguous, Sharding::zigzag, Sharding::striped};

TEST(ShardLayout, GivesEachPositionToOneRank) {
  for (const Sharding sharding : kShardings) {
    for (const std::int64_t length : {0, 1, 2, 7, 16, 101}) {
      for (const int ranks : {1, 2, 3, 8, 20}) {
        const ShardLayout layout(sharding, length, ranks);
        std::vector<int> seen(static_cast<std::size_t>(length));
        for (int r = 0; r < ranks; ++r) {
          std::int64_t index = 0;
          for (const ranks::ShardRange& range : layout.ranges(r)) {
            for (std::int64_t n = 0; n < range.count; ++n, ++index) {
              const std::int64_t position = range.begin + n * range.step;
              ++seen[static_cast<std::size_t>(position)];
              EXPECT_EQ(layout.rank_of(position), r);
              EXPECT_EQ(layout.index_of(position), index);
            }
          }
          EXPECT_EQ(layout.count(r), index);
          EXPECT_LE(std::abs(layout.count(r) - length / ranks), 2);
        }
        for (const int times : seen) EXPECT_EQ(times, 1);
      }
    }
  }
}

TEST(ShardLayout, IsAsTheirNamesSay) {
  EXPECT_EQ(ShardLayout(Sharding::contiguous, 8, 2).ranges(1),
            (std::vector<ranks::ShardRange>{{4, 4, 1}}));
  EXPECT_EQ(ShardLayout(Sharding::zigzag, 8, 2).ranges(1),
            (std::vector<ranks::ShardRange>{{2, 2, 1}, {4, 2, 1}}));
  EXPECT_EQ(ShardLayout(Sharding::striped, 8, 2).ranges(1),
            (std::vector<ranks::ShardRange>{{1, 4, 2}}));
}

TEST(ShardLayout, RefusesWhatIsNone) {
  EXPECT_THROW(ShardLayout(Sharding::zigzag, -1, 2), Error);
  EXPECT_THROW(ShardLayout(Sharding::zigzag, 1, 0), Error);
  EXPECT_THROW(ShardLayout(static_cast<Sharding>(3), 1, 1), Error);
}

TEST(Redistribute, MovesRowsBetweenAllDivisions) {
  const std::int64_t length = 37;
  Tensor<std::int64_t> whole({2, 3, length, 2});
  std::iota(whole.data(), whole.data() + whole.count(), std::int64_t{0});
  for (const Sharding from : kShardings) {
    for (const Sharding to : kShardings) {
      const ShardLayout before(from, length, world().size()), after(to, length, world().size());
      const auto part = shard_of<std::int64_t>(whole, before, world().rank());
      const auto moved = redistribute<std::int64_t>(world(), part, before, after);
      const auto wanted = shard_of<std::int64_t>(whole, after, world().rank());
      ASSERT_EQ(moved.shape(), wanted.shape());
      EXPECT_TRUE(std::equal(moved.data(), moved.data() + moved.count(), wanted.data()));
      const auto all = gather<std::int64_t>(world(), moved, after);
      EXPECT_TRUE(std::equal(all.data(), all.data() + all.count(), whole.data()));
    }
  }
}

TEST(Redistribute, RefusesAPartOfAnotherLengthOnAllRanks) {
  const ShardLayout layout(Sharding::contiguous, 10, world().size());
  const std::int64_t more = world().rank() == world().size() - 1 ? 1 : 0;
  const Tensor<float> part({1, 1, layout.count(world().rank()) + more, 1});
  EXPECT_THROW(redistribute<float>(world(), part, layout, layout), Error);
}

}  // namespace
}  // namespace sextant::ranks::sharding_test
