// What a call will do, before it does it, on ranks that are there and on ranks that are not.
#include <gtest/gtest.h>

#include "ranks/world.h"
#include "sextant/core/error.h"
#include "sextant/ranks/plan.h"

namespace sextant::ranks {
namespace {

// With a causal mask and contiguous parts of n positions, a rank r sees r n^2 + n (n + 1) / 2
// pairs.
TEST(RanksPlan, CountsPairsAndSeesIdleRanks) {
  const std::int64_t n = 64, size = world().size();
  const Tensor<float> x({1, 1, n, 16});
  const AttentionPlan contiguous =
      plan<float>(world(), x, x, x, {.causal = Causal::top_left}, {.algorithm = Algorithm::gather});
  ASSERT_EQ(contiguous.share.size(), static_cast<std::size_t>(size));
  std::int64_t total = 0;
  for (std::int64_t r = 0; r < size; ++r) {
    const std::int64_t pairs = r * n * n + n * (n + 1) / 2;
    EXPECT_EQ(contiguous.share[static_cast<std::size_t>(r)], pairs);
    total += pairs;
  }
  EXPECT_EQ(contiguous.pairs, total);
  const AttentionPlan zigzag =
      plan<float>(world(), x, x, x, {.causal = Causal::top_left},
                  {.algorithm = Algorithm::gather, .sharding = Sharding::zigzag});
  EXPECT_EQ(zigzag.balance, 1);
  // A window of one rank's length: each rank hears from the one before it alone.
  const AttentionPlan window =
      plan<float>(world(), x, x, x, {.causal = Causal::top_left, .window = {n - 1, -1}},
                  {.algorithm = Algorithm::ring});
  EXPECT_EQ(window.costs[0].bytes, size == 1 ? 0 : (n - 1) * 2 * 16 * 4);
}

TEST(RanksPlan, OfRanksThatAreNotThereIsThatOfThoseThatAre) {
  const std::int64_t size = world().size();
  const Tensor<float> q({2, 4, 64, 16}), k({2, 2, 64, 16}), v({2, 2, 64, 8});
  const CallSizes sizes{.batch = 2,
                        .heads_q = 4,
                        .kv_heads = 2,
                        .q_len = 64 * size,
                        .k_len = 64 * size,
                        .head_dim = 16,
                        .v_dim = 8};
  for (const Sharding sharding : {Sharding::contiguous, Sharding::zigzag, Sharding::striped}) {
    for (const std::int64_t left : {std::int64_t{-1}, std::int64_t{20}}) {
      const AttentionOptions<float> options{.causal = Causal::top_left, .window = {left, -1}};
      const Options ranks{.sharding = sharding,
                          .machine = {.multiply_adds = 1e9, .bytes = 1e6, .latency = 1e-3}};
      const AttentionPlan there = plan<float>(world(), q, k, v, options, ranks);
      const AttentionPlan alone = plan_for<float>(static_cast<int>(size), sizes, options, ranks);
      EXPECT_EQ(alone.explain(), there.explain());
      EXPECT_EQ(alone.share, there.share);
    }
  }
}

// A causal zigzag ring of R ranks: at its own step a rank sees half the pairs of its 2 n positions
// and their diagonal; at each other step half of the pairs with 2 n keys of another: 2 n^2. A step
// lasts as long as its arithmetic or, if that is longer, as the keys of the next one. Before, two
// rounds in each of which a rank hears from as many others as log2(R): 2^8 is more than R.
TEST(RanksPlan, OfManyRanksIsTheFormula) {
  constexpr std::int64_t kRanks = 200, kPiece = 128;
  constexpr double kOwn = kPiece * (2 * kPiece + 1), kOther = 2 * kPiece * kPiece;
  constexpr double kBytes = 2 * kPiece * 128 * 4;
  for (const double bytes_per_second : {1e12, 1e6}) {
    const Machine machine{.multiply_adds = 1e9, .bytes = bytes_per_second, .latency = 1e-5};
    const AttentionPlan plan = plan_for<float>(
        kRanks, {.q_len = 2 * kPiece * kRanks, .k_len = 2 * kPiece * kRanks},
        {.causal = Causal::top_left},
        {.algorithm = Algorithm::ring, .sharding = Sharding::zigzag, .machine = machine});
    EXPECT_EQ(plan.balance, 1);
    const double step = kBytes / bytes_per_second + 1e-5;
    const double wanted = std::max(kOwn * 128 / 1e9, step) +
                          (kRanks - 2) * std::max(kOther * 128 / 1e9, step) + kOther * 128 / 1e9 +
                          2 * 8 * 1e-5;
    EXPECT_NEAR(plan.costs[0].seconds, wanted, 1e-9 * wanted);
    EXPECT_EQ(plan.costs[0].messages, kRanks - 1);
    EXPECT_EQ(plan.costs[0].bytes, static_cast<std::int64_t>(kBytes) * (kRanks - 1));
  }
}

TEST(RanksPlan, RefusesWhatCannotBe) {
  const auto error = [](int count, CallSizes sizes) -> std::string {
    try {
      plan_for<float>(count, sizes);
    } catch (const Error& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_EQ(error(0, {.q_len = 4, .k_len = 4}), "[ranks.plan_for.count] must be 1 or more, got 0");
  EXPECT_NE(error(2, {.heads_q = 3, .kv_heads = 2, .q_len = 4, .k_len = 4}), "none");
  EXPECT_NE(error(2, {.q_len = -4, .k_len = 4}), "none");
}

}  // namespace
}  // namespace sextant::ranks
