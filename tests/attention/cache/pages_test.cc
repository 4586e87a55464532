// Pages of a KV cache: the bits do not depend on them, and they are shared until one is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "attention/cache/cache_cases.h"
#include "sextant/schemes/content/forgetting.h"
#include "sextant/schemes/rotated/rotary.h"
#include "sextant/schemes/scheme.h"
#include "support/error_of.h"

namespace sextant::pages_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
class KvCachePages : public ::testing::Test {};
using Elements = ::testing::Types<float, float16, bfloat16, std::int8_t>;
TYPED_TEST_SUITE(KvCachePages, Elements);

// Prompts and single tokens in one call, over lengths around the ends of pages and of blocks, with
// channels that kernels read in place (48) and copy (40).
TYPED_TEST(KvCachePages, GiveTheBitsOfOneArray) {
  using T = TypeParam;
  using F = FloatOf<T>;
  NumpyRandom random(5);
  constexpr std::int64_t kMost = 700;
  const DistanceBias bias{.slopes = {0.5, 0.25, 0.125, 0.0625}};
  const std::vector<double> sinks{0.5, -1, 2, 0};
  Tensor<double> gates(Shape{1, 4, kMost});
  for (double& gate : gates.span()) gate = -0.1 * random.uniform();
  const auto forget = forgetting(gates.view());
  std::vector<std::int64_t> ids(kMost);
  std::iota(ids.begin(), ids.end(), 0);
  const auto term_of = [&](const char* scheme, std::int64_t head_dim) {
    return std::get<std::shared_ptr<const ScoreTerm>>(find_scheme(scheme).make(
        {.width = 4 * head_dim, .heads = 4, .head_dim = head_dim, .positions = ids}));
  };
  const std::vector<std::int64_t> lengths{700, 128, 1, 257, 0, 384, 127},
      queries{300, 1, 1, 8, 0, 9, 3};
  for (const std::int64_t head_dim : {40, 48}) {
    const auto rotation = rotary<float>({.head_dim = head_dim}, kMost);
    const auto contextual = term_of("cope", head_dim), with_keys = term_of("deberta", head_dim);
    for (const std::int64_t page_size : {128, 256, 1024}) {
      KvCache<T> cache({7, 2, head_dim, 32, page_size});
      append_random(cache, random, lengths);
      for (const auto& options :
           {AttentionOptions<F>{}, AttentionOptions<F>{.window = {70, -1}, .bias = &bias},
            AttentionOptions<F>{.sinks = sinks, .rotation = &rotation, .softcap = 10},
            AttentionOptions<F>{.terms = {forget.get()}, .threads = 1},
            AttentionOptions<F>{.terms = {contextual.get()}, .rotation = &rotation},
            AttentionOptions<F>{
                .window = {120, -1}, .bias = &bias, .terms = {with_keys.get()}, .softcap = 5},
            AttentionOptions<F>{.sinks = sinks, .threads = 4}}) {
        SCOPED_TRACE(page_size);
        expect_packed_bits<T>(cache, random, queries, 4, options);
      }
    }
  }
}

// Ids of keys and gates of forgetting come for each sequence, although queries are packed.
TEST(KvCachePagesOfOneSequence, AreReadWithThePositionsOfTheirSequence) {
  NumpyRandom random(12);
  const std::vector<std::int64_t> lengths{200, 150}, segments{0, 20, 21};
  KvCache<float> cache({2, 1, 16, 16});
  append_random<float>(cache, random, lengths);
  const auto rotation = rotary<float>({.head_dim = 16}, 700);
  Tensor<std::int64_t> key_ids(Shape{2, 200}), query_ids(Shape{1, 21});
  Tensor<double> gates(Shape{2, 2, 200});
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t j = 0; j < 200; ++j) key_ids(b, j) = (1 + b) * j;
  }
  for (std::int64_t i = 0; i < 20; ++i) query_ids(0, i) = 180 + i;
  query_ids(0, 20) = 2 * 149;
  for (double& gate : gates.span()) gate = -0.1 * random.uniform();
  const auto forget = forgetting(gates.view());
  const auto q = random_rows<float>(random, 1, 2, 21, 16);
  Tensor<float> by_ids(q.shape()), forgotten(q.shape());
  cache.attend(q, by_ids,
               {.segments = segments,
                .query_positions = query_ids.view(),
                .key_positions = key_ids.view(),
                .rotation = &rotation});
  cache.attend(q, forgotten, {.segments = segments, .terms = {forget.get()}});
  for (std::int64_t b = 0; b < 2; ++b) {
    const auto s = static_cast<std::size_t>(b);
    const std::int64_t first = segments[s], count = segments[s + 1] - first;
    const auto rows = q.view().narrow(2, first, count);
    EXPECT_TRUE(same_bits<float>(
        by_ids.view().narrow(2, first, count),
        attend_in_one_array<float>(
            cache, b, rows,
            {.query_positions = query_ids.view().narrow(1, first, count),
             .key_positions = key_ids.view().narrow(0, b, 1).narrow(1, 0, lengths[s]),
             .rotation = &rotation})));
    const auto own = forgetting(gates.view().narrow(0, b, 1));
    EXPECT_TRUE(
        same_bits<float>(forgotten.view().narrow(2, first, count),
                         attend_in_one_array<float>(cache, b, rows, {.terms = {own.get()}})));
  }
}

// In a batch that is not packed.
TYPED_TEST(KvCachePages, GiveTheBitsOfOneArrayToABatch) {
  using T = TypeParam;
  using F = FloatOf<T>;
  NumpyRandom random(6);
  KvCache<T> cache({2, 2, 32, 32});
  append_random<T>(cache, random, std::vector<std::int64_t>{500, 200});
  for (const std::int64_t count : {1, 8, 9, 150}) {
    const auto q = random_rows<F>(random, 2, 4, count, 32);
    Tensor<F> out(q.shape());
    cache.attend(q.view(), out.view());
    for (std::int64_t b = 0; b < 2; ++b) {
      EXPECT_TRUE(same_bits<F>(
          out.view().narrow(0, b, 1),
          attend_in_one_array<T>(cache, b, q.view().narrow(0, b, 1), AttentionOptions<F>{})));
    }
  }
}

// Many keys: several threads at one task, and the sums of more than 4096 keys.
TEST(KvCachePagesOfOneSequence, GiveTheBitsOfOneArrayInStages) {
  NumpyRandom random(7);
  for (const std::int64_t page_size : {128, 384}) {
    KvCache<float> cache({1, 1, 16, 16, page_size});
    append_random<float>(cache, random, std::vector<std::int64_t>{5000});
    for (const int threads : {1, 3}) {
      expect_packed_bits<float>(cache, random, std::vector<std::int64_t>{2}, 2,
                                {.threads = threads});
    }
  }
}

TEST(KvCachePagesOfOneSequence, AnInfiniteValueIsFoundThroughThem) {
  NumpyRandom random(8);
  KvCache<float> cache({1, 1, 16, 16});
  auto k = random_rows<float>(random, 1, 1, 300, 16), v = random_rows<float>(random, 1, 1, 300, 16);
  v(0, 0, 200, 3) = std::numeric_limits<float>::infinity();
  cache.append(k, v);
  for (const std::int64_t count : {1, 20}) {
    const auto q = random_rows<float>(random, 1, 1, count, 16);
    Tensor<float> out(q.shape());
    cache.attend(q, out);
    EXPECT_TRUE(same_bits<float>(out, attend_in_one_array<float>(cache, 0, q.view(), {})));
    EXPECT_TRUE(std::isinf(out(0, 0, 0, 3)));
  }
}

TYPED_TEST(KvCachePages, AreSharedUntilOneIsWritten) {
  using T = TypeParam;
  using F = FloatOf<T>;
  NumpyRandom random(9);
  KvCache<T> cache({1, 2, 16, 16});
  append_random<T>(cache, random, std::vector<std::int64_t>{300});
  const std::int64_t page = cache.bytes() / 3;
  EXPECT_FALSE(cache.is_shared());
  KvCache<T> fork = cache.fork();
  EXPECT_TRUE(cache.is_shared() && fork.is_shared());
  const Tensor<F> before = cache.keys();

  // Two of the three pages stay shared.
  append_random<T>(fork, random, std::vector<std::int64_t>{5});
  KvCache<T> both = cache.fork();
  both.join(fork);
  EXPECT_EQ(both.bytes(), 4 * page);
  EXPECT_TRUE(same_bits<F>(cache.keys(), before.view()));
  const Tensor<F> of_fork = fork.keys();
  EXPECT_TRUE(same_bits<F>(of_fork.view().narrow(2, 0, 300), before.view()));
  EXPECT_THAT(both.lengths(), ElementsAre(300, 305));

  // Beams.
  both.select(std::vector<std::int64_t>{1, 1, 0});
  EXPECT_EQ(both.bytes(), 4 * page);
  append_random<T>(both, random, std::vector<std::int64_t>{100, 100, 1});
  EXPECT_EQ(both.bytes(), 2 * page + 5 * page);
  EXPECT_TRUE(same_bits<F>(fork.keys(), of_fork));
}

TEST(KvCachePagesOfOneSequence, ThatHoldNothingAreReleased) {
  NumpyRandom random(10);
  KvCache<float> cache({1, 1, 8, 8});
  append_random<float>(cache, random, std::vector<std::int64_t>{600});
  const std::int64_t page = cache.bytes() / 5;
  cache.drop(128, 384);
  EXPECT_EQ(cache.bytes(), 3 * page);
  cache.rewind(128);
  EXPECT_EQ(cache.bytes(), page);
  cache.clear();
  EXPECT_EQ(cache.bytes(), 0);
}

// The thread sanitizer sees this too.
TEST(KvCachePagesOfOneSequence, AreUsedByForksOnTheirThreads) {
  NumpyRandom random(11);
  KvCache<float> cache({1, 2, 16, 16});
  append_random<float>(cache, random, std::vector<std::int64_t>{200});
  for (int round = 0; round < 20; ++round) {
    std::vector<KvCache<float>> forks;
    forks.push_back(cache.fork());
    forks.push_back(cache.fork());
    const auto work = [](KvCache<float>& fork, std::uint32_t seed) {
      NumpyRandom own(seed);
      append_random<float>(fork, own, std::vector<std::int64_t>{70});
      expect_packed_bits<float>(fork, own, std::vector<std::int64_t>{1}, 4, {.threads = 1});
      fork.drop(10, 150);
      append_random<float>(fork, own, std::vector<std::int64_t>{3});
      fork.clear();
    };
    std::thread other([&] { work(forks[0], 1); });
    work(forks[1], 2);
    append_random<float>(cache, random, std::vector<std::int64_t>{1});
    other.join();
  }
  EXPECT_FALSE(cache.is_shared());
}

TEST(KvCachePagesOfOneSequence, RefuseSegmentsThatDoNotFit) {
  KvCache<float> cache({2, 1, 8, 8});
  const Tensor<float> rows(Shape{1, 1, 5, 8});
  const std::vector<std::int64_t> three{0, 2, 4}, back{0, 6, 5}, fits{0, 2, 5}, one{0, 5},
      counts{1, 1};
  const auto error = [&](const AppendedRows& of) {
    return error_of([&] { cache.append(rows, rows, of); });
  };
  EXPECT_THAT(
      error({.segments = three}),
      HasSubstr("[kv_cache.segments] must ascend from 0 to the number of rows 5, got 0 .. 4"));
  EXPECT_THAT(error({.segments = back}), HasSubstr("kv_cache.segments"));
  EXPECT_THAT(error({.segments = one}),
              HasSubstr("[kv_cache.segments] must have 3 entries for 2 sequences, got 2"));
  EXPECT_THAT(error({.counts = counts, .segments = fits}),
              HasSubstr("[kv_cache.counts] must not be given with segments"));
  EXPECT_EQ(cache.longest(), 0);
  EXPECT_EQ(cache.bytes(), 0);
  EXPECT_EQ(error({.segments = fits}), "no error");
  Tensor<float> out(rows.shape());
  EXPECT_THAT(error_of([&] { cache.attend(rows, out, {.segments = three}); }),
              HasSubstr("[attention.segments] must ascend from 0 to the length 5"));
}

}  // namespace
}  // namespace sextant::pages_test
