// Attention over divided sequences beside the same call in one process.
#include "sextant/ranks/attention.h"

#include <gtest/gtest.h>

#include "ranks/results.h"

namespace sextant::ranks {
namespace {

constexpr Sharding kShardings[] = {Sharding::contiguous, Sharding::zigzag, Sharding::striped};

class RanksAttention : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, RanksAttention, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

// Rounding in another order makes other errors of the same size: each rank's sums are chains like
// the operator's, over fewer keys, and merging them adds a rounding of each result and of its
// log-sum-exp l, which changes a weight by |l| 2^-24 of itself. So: at most twice the error of one
// process, and besides the size of the result times 2^-24 (1 + largest |l|) per merged result: one
// a rank, or one a slice.
TEST_P(RanksAttention, InARingIsAsExactAsInOneProcess) {
  const Whole<float> whole(GetParam());
  const Whole<double> exact(GetParam());
  Whole<double> same(GetParam());  // as double, what the float32 arrays hold
  std::copy_n(whole.q.data(), whole.q.count(), same.q.data());
  std::copy_n(whole.k.data(), whole.k.count(), same.k.data());
  std::copy_n(whole.v.data(), whole.v.count(), same.v.data());
  const Result<float> one = in_one_process(whole);
  const Result<double> truth = in_one_process(same);
  double largest = 0;
  for (const float log : one.logs.span()) {
    if (std::isfinite(log)) largest = std::max(largest, std::fabs(static_cast<double>(log)));
  }
  for (const auto& [sharding, slice_bytes] :
       {std::pair{Sharding::contiguous, 0}, {Sharding::zigzag, 0}, {Sharding::zigzag, 1}}) {
    SCOPED_TRACE(std::string(name_of(sharding)) + ", slices " + std::to_string(slice_bytes));
    const Part<float> part(whole, sharding);
    const Result<float> ring = on_ranks(
        part, {.algorithm = Algorithm::ring, .sharding = sharding, .slice_bytes = slice_bytes});
    const auto all = gather<float>(world(), ring.out, part.q_layout);
    const auto logs = gather<float>(world(), ring.logs, part.q_layout);
    const auto merged = world().size() + (slice_bytes == 0 ? 0 : whole.k.size(2) / 128);
    const double merging = 0x1p-24 * (1 + largest) * static_cast<double>(merged);
    EXPECT_LE(distance(all, truth.out),
              2 * distance(one.out, truth.out) + merging * size_of(truth.out));
    EXPECT_LE(distance(logs, truth.logs), 2 * distance(one.logs, truth.logs) + merging);
  }
}

class RanksReproducible : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Cases, RanksReproducible, testing::ValuesIn(all_cases()),
                         [](const auto& each) { return each.param.name; });

TEST_P(RanksReproducible, ByGatheringAndByHeadsHasTheBitsOfOneProcess) {
  const Whole<float> whole(GetParam());
  const Result<float> one = in_one_process(whole);
  for (const Sharding sharding : kShardings) {
    for (const Algorithm algorithm :
         {Algorithm::gather, Algorithm::ulysses, Algorithm::automatic}) {
      if (sharding == Sharding::striped && algorithm == Algorithm::gather) continue;
      SCOPED_TRACE(std::string(name_of(sharding)) + " " + std::string(name_of(algorithm)));
      const Part<float> part(whole, sharding);
      const Result<float> got =
          on_ranks(part, {.algorithm = algorithm, .sharding = sharding, .reproducible = true});
      EXPECT_TRUE(same_bits(got.out, shard_of<float>(one.out, part.q_layout, world().rank())));
      EXPECT_TRUE(same_bits(got.logs, shard_of<float>(one.logs, part.q_layout, world().rank())));
    }
  }
}

TEST_P(RanksAttention, InARingHasTheSameBitsInEveryRunAndForEveryNumberOfThreads) {
  const Whole<float> whole(GetParam());
  const Part<float> part(whole, Sharding::zigzag);
  const Options options{.algorithm = Algorithm::ring, .sharding = Sharding::zigzag};
  const Result<float> first = on_ranks(part, options, 1);
  for (const int threads : {1, 3}) {
    const Result<float> again = on_ranks(part, options, threads);
    EXPECT_TRUE(same_bits(first.out, again.out)) << threads;
    EXPECT_TRUE(same_bits(first.logs, again.logs)) << threads;
  }
}

// 16 bits are rounded once, at the end: at most one step of the type from one process's, where the
// two float32 results lie on both sides of a border.
template <class T>
void expect_close_16(const Case& of, double step) {
  const Whole<T> whole(of);
  const Result<T> one = in_one_process(whole);
  const Part<T> part(whole, Sharding::zigzag);
  const Result<T> ring =
      on_ranks(part, {.algorithm = Algorithm::ring, .sharding = Sharding::zigzag});
  const auto mine = shard_of<T>(one.out, part.q_layout, world().rank());
  std::int64_t different = 0;
  for (std::int64_t n = 0; n < mine.count(); ++n) {
    const auto a = static_cast<double>(mine.data()[n]);
    const auto b = static_cast<double>(ring.out.data()[n]);
    different += a != b;
    EXPECT_LE(std::fabs(a - b), step * std::max(0x1p-10, std::max(std::fabs(a), std::fabs(b))));
  }
  EXPECT_LE(different, mine.count() / 20);  // few lie at a border
}

TEST(RanksAttention16, IsRoundedOnce) {
  for (const Case& of : cases()) {
    if (of.size != 1) continue;
    SCOPED_TRACE(of.name);
    expect_close_16<bfloat16>(of, 0x1p-7);
    expect_close_16<float16>(of, 0x1p-10);
  }
}

TEST(RanksAttention16, HasTheBitsOfOneProcessByGathering) {
  for (const Case& of : all_cases()) {
    SCOPED_TRACE(of.name);
    const Whole<bfloat16> whole(of);
    const Part<bfloat16> part(whole, Sharding::zigzag);
    const Result<bfloat16> got =
        on_ranks(part, {.algorithm = Algorithm::gather, .sharding = Sharding::zigzag});
    EXPECT_TRUE(same_bits(
        got.out, shard_of<bfloat16>(in_one_process(whole).out, part.q_layout, world().rank())));
  }
}

TEST(RanksAttention64, HasTheBitsOfOneProcess) {
  const Whole<double> whole(cases().back());
  const Part<double> part(whole, Sharding::zigzag);
  for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::gather, Algorithm::ulysses}) {
    const Result<double> got =
        on_ranks(part, {.algorithm = algorithm, .sharding = Sharding::zigzag});
    EXPECT_TRUE(same_bits(
        got.out, shard_of<double>(in_one_process(whole).out, part.q_layout, world().rank())));
  }
}

// What is sent in 16 bits is what one process computes from rounded keys and values.
TEST(RanksWireType, RoundsKeysAndValuesOfAllRanks) {
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::gather}) {
    Whole<float> whole({.name = "causal", .causal = Causal::top_left});
    const Part<float> part(whole, Sharding::contiguous);
    const Result<float> got =
        on_ranks(part, {.algorithm = algorithm, .wire_type = WireType::bfloat16});
    for (Tensor<float>* each : {&whole.k, &whole.v}) {
      for (float& x : each->span()) x = static_cast<float>(bfloat16(static_cast<double>(x)));
    }
    const Result<float> one = in_one_process(whole);
    const auto mine = shard_of<float>(one.out, part.q_layout, world().rank());
    EXPECT_LE(distance(got.out, mine), 0x1p-20);
    EXPECT_TRUE(algorithm == Algorithm::ring || same_bits(got.out, mine));
  }
}

// NaN in a key reaches exactly the rows that see it; hidden ones none.
TEST(RanksAttentionNan, StaysWhereItIsVisible) {
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::gather, Algorithm::ulysses}) {
    Whole<float> whole({.name = "window", .causal = Causal::top_left, .window = {20, -1}});
    whole.k(0, 1, 100, 3) = std::numeric_limits<float>::quiet_NaN();
    whole.v(1, 0, 150, 5) = std::numeric_limits<float>::quiet_NaN();
    const Result<float> one = in_one_process(whole);
    const Part<float> part(whole, Sharding::zigzag);
    const Result<float> got =
        on_ranks(part, {.algorithm = algorithm, .sharding = Sharding::zigzag});
    const auto mine = shard_of<float>(one.out, part.q_layout, world().rank());
    for (std::int64_t n = 0; n < mine.count(); ++n) {
      EXPECT_EQ(std::isnan(mine.data()[n]), std::isnan(got.out.data()[n])) << n;
    }
  }
}

}  // namespace
}  // namespace sextant::ranks
