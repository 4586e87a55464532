// Calls that do not fit, or differ from rank to rank: one Error on all ranks, never a hang.
#include <gtest/gtest.h>

#include "ranks/results.h"
#include "sextant/ranks/agreement.h"
#include "sextant/ranks/plan.h"

namespace sextant::ranks {
namespace {

// The text of the Error of a call, which must be the same on all ranks.
template <class Change>
std::string error_of(const Change& change) {
  const Whole<float> whole({.name = "slopes", .causal = Causal::top_left, .slopes = true});
  Part<float> part(whole, Division::contiguous);
  Options ranks{.form = Form::ring};
  change(part, ranks);
  std::string text;
  try {
    on_ranks(part, ranks);
  } catch (const Error& error) {
    text = error.what();
  }
  const auto all = world().all_gather(std::as_bytes(std::span(text)));
  for (const auto& other : all) EXPECT_EQ(other, all[0]) << text;
  return text;
}

TEST(RanksArguments, ThatDifferAreAnErrorOnAllRanks) {
  if (world().size() == 1) return;
  const bool last = world().rank() == world().size() - 1;
  const std::string where = " on rank 0 and 2.5 on rank " + std::to_string(world().size() - 1);
  EXPECT_EQ(error_of([&](auto& part, auto&) { part.options.softcap = last ? 2.5 : 2; }),
            "[ranks.attention.softcap] must be the same on all ranks, got 2" + where);
  EXPECT_NE(error_of([&](auto&, auto& ranks) {
              ranks.division = last ? Division::zigzag : Division::contiguous;
            }).find("[ranks.attention.division] must be the same on all ranks, got contiguous"),
            std::string::npos);
  EXPECT_NE(error_of([&](auto& part, auto&) {
              if (last) part.k = Tensor<float>({kBatch, 1, part.k.size(2), kDim});
            }).find("[ranks.attention.k] must be the same on all ranks"),
            std::string::npos);
  EXPECT_NE(error_of([&](auto& part, auto&) {
              if (last) part.k = Tensor<float>({kBatch, 2, part.k.size(2) + 1, kDim});
            }).find("[ranks.attention.v] must have the positions of k"),
            std::string::npos);
  const std::vector<double> sinks(kHeads, last ? 1.0 : 0.0);
  EXPECT_NE(error_of([&](auto& part, auto&) {
              part.options.sinks = sinks;
            }).find("[ranks.attention.sinks] must be the same on all ranks, got other values"),
            std::string::npos);
}

TEST(RanksArguments, ThatTheOperatorRefusesAreItsErrors) {
  EXPECT_EQ(error_of([](auto& part, auto&) { part.options.softcap = -1; }),
            "[ranks.attention.softcap] must be finite and >= 0, got -1");
  EXPECT_EQ(error_of([](auto&, auto& ranks) { ranks.reproducible = true; }),
            "[ranks.attention.form] must be gather or ulysses with reproducible");
  const PlacedTerm term;
  EXPECT_EQ(error_of([&](auto& part, auto&) { part.options.content = &term; }),
            "[ranks.attention.form] must be gather or ulysses with a content term");
}

// With a causal mask and contiguous parts of n positions, a rank r sees r n^2 + n (n + 1) / 2
// pairs.
TEST(RanksPlan, CountsPairsAndSeesIdleRanks) {
  const std::int64_t n = 64, size = world().size();
  const Tensor<float> x({1, 1, n, 16});
  const AttentionPlan contiguous =
      plan<float>(world(), x, x, x, {.causal = Causal::top_left}, {.form = Form::gather});
  ASSERT_EQ(contiguous.share.size(), static_cast<std::size_t>(size));
  std::int64_t total = 0;
  for (std::int64_t r = 0; r < size; ++r) {
    const std::int64_t pairs = r * n * n + n * (n + 1) / 2;
    EXPECT_EQ(contiguous.share[static_cast<std::size_t>(r)], pairs);
    total += pairs;
  }
  EXPECT_EQ(contiguous.pairs, total);
  const AttentionPlan zigzag = plan<float>(world(), x, x, x, {.causal = Causal::top_left},
                                           {.form = Form::gather, .division = Division::zigzag});
  EXPECT_EQ(zigzag.balance, 1);
  // A window of one rank's length: each rank hears from the one before it alone.
  const AttentionPlan window = plan<float>(
      world(), x, x, x, {.causal = Causal::top_left, .window = {n - 1, -1}}, {.form = Form::ring});
  EXPECT_EQ(window.costs[0].bytes, size == 1 ? 0 : (n - 1) * 2 * 16 * 4);
}

}  // namespace
}  // namespace sextant::ranks
