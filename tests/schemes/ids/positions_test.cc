// Position ids, and the mistakes that are made with them.
#include "sextant/schemes/ids/positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/error_of.h"

namespace sextant::positions_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

std::vector<std::int64_t> row_of(const Tensor<std::int64_t>& ids, std::int64_t row) {
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < ids.size(1); ++i) result.push_back(ids(row, i));
  return result;
}

Tensor<bool> mask_of(const std::vector<std::string>& rows) {
  Tensor<bool> mask(
      {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows[0].size())});
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      mask(static_cast<std::int64_t>(r), static_cast<std::int64_t>(i)) = rows[r][i] == 'x';
    }
  }
  return mask;
}

TEST(Positions, PlainOnesCount) {
  EXPECT_THAT(position_range(-2, 4), ElementsAre(-2, -1, 0, 1));
  EXPECT_THAT(position_range(7, 0), IsEmpty());
}

TEST(Positions, BehindACacheTheyGoOn) {
  const std::int64_t past[] = {0, 5};
  const Tensor<std::int64_t> ids = cached_positions(past, 3);
  EXPECT_THAT(row_of(ids, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(row_of(ids, 1), ElementsAre(5, 6, 7));
}

TEST(Positions, PaddingMovesNoToken) {
  const Tensor<std::int64_t> ids =
      padded_positions(mask_of({"..xxx", "xxx..", "xxxxx", "....."}), 1);
  EXPECT_THAT(row_of(ids, 0), ElementsAre(1, 1, 0, 1, 2));
  EXPECT_THAT(row_of(ids, 1), ElementsAre(0, 1, 2, 1, 1));
  EXPECT_THAT(row_of(ids, 2), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(row_of(ids, 3), ElementsAre(1, 1, 1, 1, 1));
}

TEST(Positions, WhileDecodingOneSlicesAfterTheCount) {
  // Two tokens behind three of padding, then one more: its id is 2. A mask of the new token alone
  // says 0, and a count that takes padding for tokens says 5.
  const Tensor<bool> mask = mask_of({"...xxx"});
  const Tensor<std::int64_t> ids = padded_positions(mask);
  EXPECT_EQ(ids(0, 5), 2);
  EXPECT_EQ(padded_positions(mask.view().narrow(1, 5, 1))(0, 0), 0);
}

TEST(Positions, FairseqCountsFromBehindItsPaddingIndex) {
  const Tensor<std::int64_t> ids = fairseq_positions(mask_of({"xxx..", "..xxx", ".x.xx"}));
  EXPECT_THAT(row_of(ids, 0), ElementsAre(2, 3, 4, 1, 1));
  EXPECT_THAT(row_of(ids, 1), ElementsAre(1, 1, 2, 3, 4));
  EXPECT_THAT(row_of(ids, 2), ElementsAre(1, 2, 1, 3, 4));
  EXPECT_THAT(row_of(fairseq_positions(mask_of({"xx."}), 0), 0), ElementsAre(1, 2, 0));
}

TEST(Positions, PackedSequencesStartAgain) {
  const std::int64_t boundaries[] = {0, 3, 3, 5};
  EXPECT_THAT(packed_positions(boundaries), ElementsAre(0, 1, 2, 0, 1));
  const std::int64_t nothing[] = {0};
  EXPECT_THAT(packed_positions(nothing), IsEmpty());
}

TEST(Positions, RandomOnesAreDistinctAndAscending) {
  for (const std::uint32_t seed : {0U, 1U, 77U}) {
    const std::vector<std::int64_t> ids = random_positions(40, 2048, seed);
    ASSERT_EQ(ids.size(), 40U);
    for (std::size_t i = 1; i < ids.size(); ++i) EXPECT_LT(ids[i - 1], ids[i]);
    EXPECT_GE(ids.front(), 0);
    EXPECT_LT(ids.back(), 2048);
    EXPECT_EQ(ids, random_positions(40, 2048, seed));
  }
  EXPECT_NE(random_positions(40, 2048, 0), random_positions(40, 2048, 1));
  EXPECT_THAT(random_positions(4, 4, 9), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(random_positions(3, std::int64_t{1} << 53, 1).size(), 3U);
}

TEST(Positions, EveryChoiceOfRandomOnesIsEquallyLikely) {
  std::map<std::vector<std::int64_t>, int> seen;
  for (std::uint32_t seed = 0; seed < 6000; ++seed) ++seen[random_positions(2, 4, seed)];
  ASSERT_EQ(seen.size(), 6U);
  // 1000 expected of each; the deviation is below sqrt(1000), five of those.
  for (const auto& [ids, count] : seen) EXPECT_NEAR(count, 1000, 160);
}

TEST(Positions, ShiftedOnesHaveOneOffsetPerSequence) {
  std::set<std::int64_t> offsets;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const std::vector<std::int64_t> ids = shifted_positions(5, 3, seed);
    offsets.insert(ids[0]);
    for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(ids[i], ids[0] + static_cast<std::int64_t>(i));
  }
  EXPECT_THAT(offsets, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(shifted_positions(2, 0, 5), ElementsAre(0, 1));
}

TEST(Positions, GridsAndVideosCountTheInnermostAxisFirst) {
  const Tensor<std::int64_t> grid = grid_positions(2, 3);
  ASSERT_EQ(grid.shape(), Shape({6, 2}));
  EXPECT_THAT(row_of(grid, 2), ElementsAre(0, 2));
  EXPECT_THAT(row_of(grid, 3), ElementsAre(1, 0));
  const Tensor<std::int64_t> video = video_positions(2, 3, 4);
  ASSERT_EQ(video.shape(), Shape({24, 3}));
  EXPECT_THAT(row_of(video, 23), ElementsAre(1, 2, 3));
  EXPECT_THAT(row_of(video, 12), ElementsAre(1, 0, 0));
  EXPECT_THAT(row_of(video, 6), ElementsAre(0, 1, 2));
}

TEST(MropePositions, AnImageTakesFewerIdsThanTokens) {
  const MropeSegment parts[] = {MropeSegment::text(2), MropeSegment::image(2, 3),
                                MropeSegment::text(2)};
  const MropePositions made = mrope_positions(parts);
  ASSERT_EQ(made.ids.shape(), Shape({10, 3}));
  EXPECT_THAT(row_of(made.ids, 1), ElementsAre(1, 1, 1));
  EXPECT_THAT(row_of(made.ids, 2), ElementsAre(2, 2, 2));
  EXPECT_THAT(row_of(made.ids, 4), ElementsAre(2, 2, 4));
  EXPECT_THAT(row_of(made.ids, 7), ElementsAre(2, 3, 4));
  EXPECT_THAT(row_of(made.ids, 8), ElementsAre(5, 5, 5));  // 1 + the largest, the column's 4
  EXPECT_EQ(made.next, 7);
  EXPECT_EQ(made.delta, -3);  // ten tokens: the eleventh has id 10 - 3
}

TEST(MropePositions, VideosCountTheirFrames) {
  const MropeSegment parts[] = {MropeSegment::text(1), MropeSegment::video(3, 1, 2, 2.5),
                                MropeSegment::text(1)};
  const MropePositions made = mrope_positions(parts);
  EXPECT_THAT(row_of(made.ids, 1), ElementsAre(1, 1, 1));
  EXPECT_THAT(row_of(made.ids, 3), ElementsAre(3, 1, 1));  // floor(2.5)
  EXPECT_THAT(row_of(made.ids, 6), ElementsAre(6, 1, 2));
  EXPECT_THAT(row_of(made.ids, 7), ElementsAre(7, 7, 7));
  const MropeSegment dated[] = {MropeSegment::video(2, 2, 1, 0), MropeSegment::text(1)};
  EXPECT_THAT(row_of(mrope_positions(dated).ids, 2), ElementsAre(0, 0, 0));
  EXPECT_THAT(row_of(mrope_positions(dated).ids, 4), ElementsAre(2, 2, 2));
}

TEST(MropePositions, PaddingMovesNoTokenButTheDelta) {
  const MropeSegment bare[] = {MropeSegment::text(1), MropeSegment::image(2, 2),
                               MropeSegment::text(1)};
  const MropeSegment padded[] = {MropeSegment::padding(3), bare[0], bare[1], bare[2]};
  const MropePositions a = mrope_positions(bare);
  const MropePositions b = mrope_positions(padded);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_THAT(row_of(b.ids, i), ElementsAre(1, 1, 1));
  for (std::int64_t i = 0; i < a.ids.size(0); ++i)
    EXPECT_EQ(row_of(a.ids, i), row_of(b.ids, i + 3));
  EXPECT_EQ(a.next, b.next);
  EXPECT_EQ(b.delta, a.delta - 3);
}

TEST(Positions, EveryFourthLayerDoesNotRotate) {
  std::vector<std::int64_t> without;
  for (std::int64_t layer = 0; layer < 12; ++layer) {
    if (!rotates(layer)) without.push_back(layer);
  }
  EXPECT_THAT(without, ElementsAre(3, 7, 11));
  EXPECT_FALSE(rotates(0, 1));
  EXPECT_TRUE(rotates(3, 6));
  EXPECT_FALSE(rotates(5, 6));
}

TEST(Positions, RefuseWhatIsNoList) {
  EXPECT_THAT(error_of([] { position_range(0, -1); }), HasSubstr("[position_range.length]"));
  EXPECT_THAT(error_of([] { position_range(kHuge, 2); }), HasSubstr("[position_range.first]"));
  EXPECT_THAT(error_of([] { position_range(std::int64_t{1} << 53, 2); }), HasSubstr("2^53"));
  const std::int64_t past[] = {-1};
  EXPECT_THAT(error_of([&] { cached_positions(past, 2); }), HasSubstr("[cached_positions.past]"));
  const std::int64_t many[] = {1, 2, 3};
  EXPECT_THAT(error_of([&] { cached_positions(many, 1 << 30); }), HasSubstr("2^30 ids"));
  const Tensor<bool> mask({2});
  EXPECT_THAT(error_of([&] { padded_positions(mask); }), HasSubstr("[batch, length], got [2]"));
  EXPECT_THAT(error_of([&] { padded_positions(mask_of({"x"}), -1); }), HasSubstr("pad_id"));
  EXPECT_THAT(error_of([&] { fairseq_positions(mask_of({"x"}), -1); }), HasSubstr("padding_idx"));
  const std::int64_t falling[] = {0, 3, 2};
  EXPECT_THAT(error_of([&] { packed_positions(falling); }), HasSubstr("got 2 after 3"));
  EXPECT_THAT(error_of([&] { packed_positions(past); }), HasSubstr("must begin with 0"));
  EXPECT_THAT(error_of([] { random_positions(3, 2, 0); }),
              HasSubstr("[random_positions.max_length]"));
  EXPECT_THAT(error_of([] { shifted_positions(3, -1, 0); }),
              HasSubstr("[shifted_positions.max_shift]"));
  EXPECT_THAT(error_of([] { grid_positions(0, 2); }), HasSubstr("[grid_positions.rows]"));
  EXPECT_THAT(error_of([] { grid_positions(1 << 20, 1 << 20); }), HasSubstr("2^30 ids"));
  EXPECT_THAT(error_of([] { video_positions(1, 2, -3); }), HasSubstr("columns"));
  const MropeSegment bad[] = {MropeSegment::video(1, 2, 2, NAN)};
  EXPECT_THAT(error_of([&] { mrope_positions(bad); }), HasSubstr("frame_step"));
  const MropeSegment negative[] = {MropeSegment::text(-4)};
  EXPECT_THAT(error_of([&] { mrope_positions(negative); }), HasSubstr("length"));
  EXPECT_THAT(error_of([] { rotates(-1); }), HasSubstr("[rotates.layer]"));
  EXPECT_THAT(error_of([] { rotates(1, 0); }), HasSubstr("[rotates.interval]"));
}

}  // namespace
}  // namespace sextant::positions_test
