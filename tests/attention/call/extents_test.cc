// What a call tells its terms: the queries that see a key and the keys that are seen.
#include "sextant/tables/call_extents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "sextant/attention.h"

namespace sextant::extents_test {
namespace {

// Keeps the extents of the first sequence that it is asked about, and adds nothing.
class Recorder final : public ScoreTerm {
 public:
  void check(const CallExtents& call) const override { seen = call.sequences.front(); }
  void add(const ScoreTile<float>&) const noexcept override {}

  mutable SequenceExtents seen;
};

constexpr std::int64_t kQueries = 3, kKeys = 9;

struct Ends {
  IndexRange queries, keys;
};

Ends ends_of(AttentionOptions<float> options) {
  const Recorder term;
  options.terms = {&term};
  const Tensor<float> q({1, 1, kQueries, 4}), k({1, 1, kKeys, 4});
  Tensor<float> out(q.shape());
  attention<float>(q, k, k, out, options);
  return {term.seen.seeing_queries, term.seen.visible_keys};
}

void expect_range(const IndexRange& range, std::int64_t first, std::int64_t last) {
  EXPECT_EQ(std::tuple(range.first, range.last), std::tuple(first, last));
}

TEST(CallExtents, WindowsEndAfterTheDiagonalOfTheLastQuery) {
  const auto [queries, keys] = ends_of({.causal = Causal::top_left, .window = {.left = 1}});
  expect_range(queries, 0, 2);
  expect_range(keys, 0, 2);
  const std::vector<std::int64_t> offsets{4};
  for (const std::int64_t right : {0, 1, 2, 5}) {
    SCOPED_TRACE(right);
    const Ends ends = ends_of(
        {.causal = Causal::none, .query_offsets = offsets, .window = {.left = 1, .right = right}});
    expect_range(ends.queries, 4, 6);
    expect_range(ends.keys, 3, std::min<std::int64_t>(6 + right, kKeys - 1));
  }
}

TEST(CallExtents, QueriesWithoutAKeyAreNotCounted) {
  const std::vector<std::int64_t> before{-2}, after{8};
  const Ends early = ends_of({.causal = Causal::at_offsets, .query_offsets = before});
  expect_range(early.queries, 0, 0);
  expect_range(early.keys, 0, 0);
  const Ends late =
      ends_of({.causal = Causal::at_offsets, .query_offsets = after, .window = {.left = 1}});
  expect_range(late.queries, 8, 9);
  expect_range(late.keys, 7, 8);
}

}  // namespace
}  // namespace sextant::extents_test
