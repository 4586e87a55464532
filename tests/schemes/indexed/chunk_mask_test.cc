// Chunk masks: who is in a chunk, with and without the future.
#include "sextant/schemes/indexed/chunk_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "schemes/indexed/indexed_checks.h"

namespace sextant::chunk_mask_test {
namespace {

using ::testing::HasSubstr;

testing::PairFormula plain(std::vector<std::int64_t> ids, std::int64_t chunk, bool causal) {
  return [=](std::int64_t, std::int64_t query, std::int64_t key) {
    const std::int64_t i = ids[static_cast<std::size_t>(query)];
    const std::int64_t j = ids[static_cast<std::size_t>(key)];
    const auto of = [&](std::int64_t id) {
      return std::floor(static_cast<double>(id) / static_cast<double>(chunk));
    };
    return of(i) == of(j) && (!causal || j <= i) ? 0 : testing::kHidden;
  };
}

TEST(ChunkMask, CutsTheSequenceEveryChunk) {
  const Tensor<float> pairs = testing::pairs_of(*chunk_mask({.chunk = 2}, {{0, 1, 2, 3}}), 0, 4);
  constexpr float kNot = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(std::vector<float>(pairs.span().begin(), pairs.span().end()),
              ::testing::ElementsAre(0, kNot, kNot, kNot,  //
                                     0, 0, kNot, kNot,     //
                                     kNot, kNot, 0, kNot,  //
                                     kNot, kNot, 0, 0));
}

TEST(ChunkMask, IsTheSameInAnyTileAndForAnyIds) {
  std::vector<std::int64_t> ids = testing::kOddIds;
  ids.insert(ids.end(), {-1, -3, -4, -5});
  for (const bool causal : {false, true}) {
    for (const std::int64_t chunk : {1, 3, 4, 100}) {
      testing::expect_pairs(*chunk_mask({.chunk = chunk, .causal = causal}, ids), 1, 19,
                            plain(ids, chunk, causal));
    }
  }
  const testing::Asked asked(20, 2, {{"chunk", "8"}, {"causal", "no"}});
  ids.assign(asked.request.positions.begin(), asked.request.positions.end());
  testing::expect_pairs(*testing::indexed_bias_of("chunk_mask", asked.request), 2, 20,
                        plain(ids, 8, false));
}

TEST(ChunkMask, OfEndlessChunksPartsTheSignsOnly) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  testing::expect_pairs(*chunk_mask({.chunk = kMax, .causal = false}, {{-2, -1, 0, 1}}), 1, 4,
                        plain({-2, -1, 0, 1}, 1000, false));
}

TEST(ChunkMask, GoesByTheIdsThatACallGives) {
  testing::expect_ids_of_tiles(*chunk_mask({.chunk = 3}, {{9}}),
                               *chunk_mask({.chunk = 3}, testing::kOddIds), testing::kOddIds);
}

TEST(ChunkMask, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("chunk_mask", {{"chunk", "0"}}),
            "[chunk_mask.chunk] must be at least 1, got 0");
  EXPECT_THAT(testing::refusal("chunk_mask", {{"causal", "1"}}), HasSubstr("yes or no"));
  testing::Asked pairs(4, 2);
  pairs.request.axes = 2;
  EXPECT_THAT(error_of([&] { find_scheme("chunk_mask").make(pairs.request); }),
              HasSubstr("[chunk_mask.positions]"));
}

}  // namespace
}  // namespace sextant::chunk_mask_test
