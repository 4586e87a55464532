// The cache of keys and values: what is generated through it, and what it refuses.
#include "sextant/attention/kv_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "attention/cache/cache_cases.h"
#include "sextant/schemes/rotated/rotary.h"
#include "support/error_of.h"

namespace sextant::kv_cache_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A prompt of two sequences, four query heads, two key heads. Keys and values are such as a cache
// holds exactly.
template <class T>
struct Prompt {
  using F = FloatOf<T>;
  static constexpr std::int64_t kLength = 300;
  Prompt() {
    KvCache<T> cache({2, 2, 48, 32});
    cache.append(k.view(), v.view());
    k = cache.keys();
    v = cache.values();
  }
  NumpyRandom random{31};
  Tensor<F> q = normal<F>(Shape{2, 4, kLength, 48}, random, 2),
            k = normal<F>(Shape{2, 2, kLength, 48}, random, 2),
            v = normal<F>(Shape{2, 2, kLength, 32}, random);

  View<const F> part(const Tensor<F>& x, std::int64_t first, std::int64_t count) const {
    return x.view().narrow(2, first, count);
  }
  void append(KvCache<T>& cache, std::int64_t first, std::int64_t count) const {
    cache.append(part(k, first, count), part(v, first, count));
  }
  // The outputs of queries [first, first + count), which were appended last.
  Tensor<F> attend(const KvCache<T>& cache, std::int64_t first, std::int64_t count,
                   const AttentionOptions<F>& options = {}) const {
    Tensor<F> out(Shape{2, 4, count, 32});
    cache.attend(part(q, first, count), out, options);
    return out;
  }
  Tensor<F> whole(const AttentionOptions<F>& options = {}) const {
    Tensor<F> out(Shape{2, 4, kLength, 32});
    AttentionOptions<F> causal = options;
    causal.causal = Causal::top_left;
    attention<F>(q, k, v, out, causal);
    return out;
  }
};

template <class T>
class KvCacheOf : public ::testing::Test {};
using Elements = ::testing::Types<float, float16, bfloat16, std::int8_t>;
TYPED_TEST_SUITE(KvCacheOf, Elements);

TYPED_TEST(KvCacheOf, APromptWholeOrInChunksGivesTheSameBits) {
  using T = TypeParam;
  using F = FloatOf<T>;
  const Prompt<T> prompt;
  const DistanceBias bias{.slopes = {0.5, 0.25, 0.125, 0.0625}};
  const auto rotation = rotary<float>({.head_dim = 48}, Prompt<T>::kLength);
  for (const auto& options :
       {AttentionOptions<F>{}, AttentionOptions<F>{.window = {70, -1}, .bias = &bias},
        AttentionOptions<F>{.rotation = &rotation, .softcap = 10}}) {
    const auto whole = prompt.whole(options);
    for (const std::int64_t chunk : {1, 3, 7, 64, 200, 300}) {
      KvCache<T> cache({2, 2, 48, 32});
      for (std::int64_t first = 0; first < Prompt<T>::kLength; first += chunk) {
        const std::int64_t count = std::min(chunk, Prompt<T>::kLength - first);
        prompt.append(cache, first, count);
        ASSERT_TRUE(same_bits<F>(prompt.attend(cache, first, count, options),
                                 prompt.part(whole, first, count)))
            << "queries from " << first << " by " << chunk;
        if (chunk < 64) continue;
        AttentionOptions<F> named = options;
        named.causal = Causal::at_lengths;
        ASSERT_TRUE(same_bits<F>(prompt.attend(cache, first, count, named),
                                 prompt.part(whole, first, count)));
      }
    }
  }
}

TYPED_TEST(KvCacheOf, GivesLogSumExpToo) {
  using T = TypeParam;
  using F = FloatOf<T>;
  const Prompt<T> prompt;
  constexpr std::int64_t kLength = Prompt<T>::kLength, kLast = 3;
  Tensor<F> out(Shape{2, 4, kLength, 32});
  Tensor<float> whole(Shape{2, 4, kLength}), last(Shape{2, 4, kLast});
  attention<F>(prompt.q, prompt.k, prompt.v, out, {.causal = Causal::top_left}, whole);
  KvCache<T> cache({2, 2, 48, 32});
  prompt.append(cache, 0, kLength);
  cache.attend(prompt.part(prompt.q, kLength - kLast, kLast),
               out.view().narrow(2, kLength - kLast, kLast), {}, last);
  EXPECT_TRUE(same_bits<float>(last, whole.view().narrow(2, kLength - kLast, kLast)));
}

// What a cache holds, in float32.
template <class T>
Tensor<float> widened(const Tensor<T>& dense) {
  Tensor<float> wide(dense.shape());
  std::ranges::transform(dense.span(), wide.data(), [](T x) { return static_cast<float>(x); });
  return wide;
}

template <class T>
class KvCacheOf16Bits : public ::testing::Test {};
using Elements16 = ::testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(KvCacheOf16Bits, Elements16);

template <class T>
class KvCacheOfFewBits : public ::testing::Test {};
using Narrow = ::testing::Types<float16, bfloat16, std::int8_t>;
TYPED_TEST_SUITE(KvCacheOfFewBits, Narrow);

TYPED_TEST(KvCacheOfFewBits, TakesQueriesOfFloat32AsIfItsKeysAndValuesWereWidened) {
  using T = TypeParam;
  using F = FloatOf<T>;
  const Prompt<float> prompt;
  const DistanceBias bias{.slopes = {0.5, 0.25, 0.125, 0.0625}};
  const auto rotation = rotary<float>({.head_dim = 48}, Prompt<T>::kLength);
  Tensor<float> mask(Shape{1, 300});
  mask(0, 7) = -std::numeric_limits<float>::infinity();
  KvCache<T> cache({2, 2, 48, 32});
  cache.append(prompt.k.view(), prompt.v.view());
  const Tensor<float> k = widened(cache.keys()), v = widened(cache.values());
  for (const auto& options :
       {AttentionOptions<F>{}, AttentionOptions<F>{.window = {70, -1}, .bias = &bias},
        AttentionOptions<F>{.mask = FloatMask<F>(mask.view())},
        AttentionOptions<F>{.rotation = &rotation, .softcap = 10}}) {
    for (const std::int64_t count : {1, 3, 8, 9, 64, 300}) {
      const View<const float> q = prompt.part(prompt.q, Prompt<T>::kLength - count, count);
      Tensor<float> out(Shape{2, 4, count, 32}), wanted(out.shape());
      Tensor<float> sums(Shape{2, 4, count}), wanted_sums(sums.shape());
      cache.attend(q, out, options, sums);
      AttentionOptions<float> bottom = options;
      bottom.causal = Causal::bottom_right;
      attention<float>(q, k, v, wanted, bottom, wanted_sums);
      ASSERT_TRUE(same_bits<float>(out, wanted)) << count << " queries";
      ASSERT_TRUE(same_bits<float>(sums, wanted_sums)) << count << " queries";
    }
  }
}

// A visible infinity sends the row to the plain path, which reads the same types.
TYPED_TEST(KvCacheOf16Bits, DefinesRowsOfFloat32QueriesThatAreNotFinite) {
  using T = TypeParam;
  Prompt<float> prompt;
  prompt.v(1, 0, 5, 3) = std::numeric_limits<float>::infinity();
  KvCache<T> cache({2, 2, 48, 32});
  cache.append(prompt.k.view(), prompt.v.view());
  const Tensor<float> k = widened(cache.keys()), v = widened(cache.values());
  for (const std::int64_t count : {1, 64}) {
    const View<const float> q = prompt.part(prompt.q, Prompt<T>::kLength - count, count);
    Tensor<float> out(Shape{2, 4, count, 32}), wanted(out.shape());
    cache.attend(q, out);
    attention<float>(q, k, v, wanted, {.causal = Causal::bottom_right});
    ASSERT_TRUE(same_bits<float>(out, wanted));
    EXPECT_TRUE(std::isinf(out(1, 0, 0, 3)));
  }
}

TEST(KvCache, TakesQueriesOfFloat64) {
  const Prompt<float> prompt;
  KvCache<float> cache({2, 2, 48, 32});
  prompt.append(cache, 0, 300);
  Tensor<double> all(prompt.q.shape()), k(prompt.k.shape()), v(prompt.v.shape());
  std::ranges::copy(prompt.q.span(), all.data());
  std::ranges::copy(prompt.k.span(), k.data());
  std::ranges::copy(prompt.v.span(), v.data());
  Tensor<double> out(Shape{2, 4, 3, 32}), wanted(out.shape());
  const View<const double> q = all.view().narrow(2, 297, 3);
  cache.attend(q, out, {.softcap = 10});
  attention<double>(q, k, v, wanted, {.causal = Causal::bottom_right, .softcap = 10});
  EXPECT_TRUE(same_bits<double>(out, wanted));
}

TYPED_TEST(KvCacheOf, SequencesOfDifferentLengthsAreAsIfAlone) {
  using T = TypeParam;
  using F = FloatOf<T>;
  const Prompt<T> prompt;
  KvCache<T> cache({2, 2, 48, 32});
  const std::vector<std::int64_t> counts{130, 7};
  cache.append(prompt.part(prompt.k, 0, 130), prompt.part(prompt.v, 0, 130), {.counts = counts});
  EXPECT_THAT(cache.lengths(), ElementsAre(130, 7));
  EXPECT_EQ(cache.longest(), 130);
  prompt.append(cache, 130, 1);
  EXPECT_THAT(cache.lengths(), ElementsAre(131, 8));

  // One query each, at the last position; then two, where the caller says.
  const auto last = prompt.attend(cache, 130, 1);
  const std::vector<std::int64_t> offsets{3, 5};
  const auto inner = prompt.attend(cache, 40, 2, {.query_offsets = offsets});
  for (std::int64_t b = 0; b < 2; ++b) {
    KvCache<T> alone({1, 2, 48, 32});
    const auto append = [&](std::int64_t first, std::int64_t count) {
      alone.append(prompt.part(prompt.k, first, count).narrow(0, b, 1),
                   prompt.part(prompt.v, first, count).narrow(0, b, 1));
    };
    append(0, counts[static_cast<std::size_t>(b)]);
    append(130, 1);
    Tensor<F> out(Shape{1, 4, 1, 32}), two(Shape{1, 4, 2, 32});
    alone.attend(prompt.part(prompt.q, 130, 1).narrow(0, b, 1), out);
    EXPECT_TRUE(same_bits<F>(out, last.view().narrow(0, b, 1))) << b;
    const std::span<const std::int64_t> offset(&offsets[static_cast<std::size_t>(b)], 1);
    alone.attend(prompt.part(prompt.q, 40, 2).narrow(0, b, 1), two, {.query_offsets = offset});
    EXPECT_TRUE(same_bits<F>(two, inner.view().narrow(0, b, 1))) << b;
  }
}

TYPED_TEST(KvCacheOf, RewoundAndAppendedAgainGivesTheSameBits) {
  using T = TypeParam;
  using F = FloatOf<T>;
  const Prompt<T> prompt;
  const auto whole = prompt.whole();
  KvCache<T> cache({2, 2, 48, 32});
  prompt.append(cache, 0, 150);
  prompt.append(cache, 250, 50);  // a draft that is not taken
  cache.rewind(150);
  EXPECT_THAT(cache.lengths(), ElementsAre(150, 150));
  prompt.append(cache, 150, 5);
  EXPECT_TRUE(same_bits<F>(prompt.attend(cache, 150, 5), prompt.part(whole, 150, 5)));

  cache.rewind(149, 1);
  EXPECT_THAT(cache.lengths(), ElementsAre(155, 149));
  cache.rewind(152);
  EXPECT_THAT(cache.lengths(), ElementsAre(152, 149));
  cache.clear();
  EXPECT_EQ(cache.longest(), 0);
  prompt.append(cache, 0, 9);
  EXPECT_TRUE(same_bits<F>(prompt.attend(cache, 0, 9), prompt.part(whole, 0, 9)));
}

TEST(KvCache, RoundsFloatsOnceAndTakesAnyStrides) {
  NumpyRandom random(5);
  const auto k = normal<float>(Shape{1, 5, 2, 8}, random),
             v = normal<float>(Shape{1, 5, 2, 4}, random);
  KvCache<bfloat16> cache({1, 2, 8, 4});
  cache.append(k.view().transpose(1, 2), v.view().transpose(1, 2));
  for (std::int64_t h = 0; h < 2; ++h) {
    for (std::int64_t j = 0; j < 5; ++j) {
      for (std::int64_t c = 0; c < 8; ++c) {
        EXPECT_EQ(cache.keys()(0, h, j, c).bits, bfloat16(static_cast<double>(k(0, j, h, c))).bits);
      }
      for (std::int64_t c = 0; c < 4; ++c) {
        EXPECT_EQ(cache.values()(0, h, j, c).bits,
                  bfloat16(static_cast<double>(v(0, j, h, c))).bits);
      }
    }
  }
}

TEST(KvCache, RoundsFloat64ToFloat32) {
  Tensor<double> k(Shape{1, 1, 1, 2});
  k(0, 0, 0, 0) = 1 + 0x1p-24 + 0x1p-40;
  k(0, 0, 0, 1) = -0.1;
  KvCache<float> cache({1, 1, 2, 2});
  cache.append(k, k);
  EXPECT_EQ(cache.keys()(0, 0, 0, 0), 1 + 0x1p-23F);
  EXPECT_EQ(cache.values()(0, 0, 0, 1), -0.1F);
}

TEST(KvCache, NothingIsNotAnError) {
  KvCache<float> empty({0, 2, 8, 4});
  const Tensor<float> nobody(Shape{0, 2, 1, 8}), nothing(Shape{0, 2, 1, 4});
  Tensor<float> out(Shape{0, 2, 1, 4});
  EXPECT_NO_THROW(empty.append(nobody, nothing));
  EXPECT_NO_THROW(empty.attend(nobody, out));
  EXPECT_EQ(empty.longest(), 0);

  KvCache<float> unfilled({1, 2, 8, 4});
  const Tensor<float> q(Shape{1, 2, 1, 8});
  Tensor<float> zeros(Shape{1, 2, 1, 4});
  for (float& x : zeros.span()) x = 7;
  unfilled.attend(q, zeros);
  for (const float x : zeros.span()) EXPECT_EQ(x, 0);

  KvCache<float> keys_alone({1, 2, 8, 0});
  Tensor<float> none(Shape{1, 2, 1, 0});
  EXPECT_NO_THROW(keys_alone.append(q, none));
  EXPECT_NO_THROW(keys_alone.attend(q, none));
  EXPECT_EQ(keys_alone.length(0), 1);
}

TEST(KvCache, ErrorsNameTheArgument) {
  EXPECT_THAT(error_of([] {
                KvCache<float>({-1, 1, 1, 1});
              }),
              HasSubstr("[kv_cache.batch] must be in 0 .. 2^40, got -1"));
  EXPECT_THAT(error_of([] { KvCache<float>({1, 0, 1, 1}); }), HasSubstr("kv_cache.kv_heads"));
  EXPECT_THAT(error_of([] { KvCache<float>({1, 1, 0, 1}); }), HasSubstr("kv_cache.head_dim"));
  EXPECT_THAT(error_of([] { KvCache<float>({1, 1, 1, -1}); }), HasSubstr("kv_cache.v_dim"));

  EXPECT_THAT(error_of([] {
                KvCache<float>({1, 1, 1, 1, 64});
              }),
              HasSubstr("[kv_cache.page_size] must be a multiple of 128 in 128 .. 2^20, got 64"));
  EXPECT_THAT(error_of([] { KvCache<float>({1, 1, 1, 1, 192}); }), HasSubstr("kv_cache.page_size"));
  KvCache<float> cache({2, 1, 4, 3});
  const Tensor<float> k(Shape{2, 1, 2, 4}), v(Shape{2, 1, 2, 3}), q(Shape{2, 1, 1, 4});
  Tensor<float> out(Shape{2, 1, 1, 3});
  EXPECT_THAT(error_of([&] { cache.append(v, v); }),
              HasSubstr("[kv_cache.k] must be [2, 1, 2, 4], got [2, 1, 2, 3]"));
  EXPECT_THAT(error_of([&] { cache.append(k, k); }),
              HasSubstr("[kv_cache.v] must be [2, 1, 2, 3]"));
  EXPECT_THAT(error_of([&] { cache.append(k.view().select(0, 0), v); }), HasSubstr("kv_cache.k"));
  const std::vector<std::int64_t> one{1}, many{1, 3}, lengths{1, 1}, segments{0, 1};
  EXPECT_THAT(error_of([&] { cache.append(k, v, {.counts = one}); }), HasSubstr("kv_cache.counts"));
  EXPECT_THAT(error_of([&] { cache.append(k, v, {.counts = many}); }),
              HasSubstr("[kv_cache.counts] must be in 0 .. 2, got 3"));
  EXPECT_EQ(cache.longest(), 0);
  cache.append(k, v);
  EXPECT_THAT(error_of([&] { cache.length(2); }), HasSubstr("kv_cache.sequence"));
  EXPECT_THAT(error_of([&] { cache.rewind(-1); }), HasSubstr("kv_cache.length"));
  EXPECT_THAT(error_of([&] { cache.rewind(3, 0); }),
              HasSubstr("[kv_cache.length] must be in 0 .. 2"));
  EXPECT_THAT(error_of([&] { cache.attend(q, out, {.key_lengths = lengths}); }),
              HasSubstr("kv_cache.key_lengths"));
  EXPECT_THAT(
      error_of([&] { cache.attend(q, out, {.segments = segments}); }),
      HasSubstr("[kv_cache.segments] must have one entry more than the 2 sequences, got 2"));
  EXPECT_THAT(error_of([&] { cache.attend(q, out, {.key_segments = lengths}); }),
              HasSubstr("kv_cache.key_segments"));
  EXPECT_THAT(
      error_of([&] { cache.attend(q, out, {.causal = Causal::top_left}); }),
      HasSubstr("[kv_cache.causal] must be unset, none, at_offsets or at_lengths, got top_left"));
  EXPECT_THAT(error_of([&] { cache.attend(k.view().select(0, 0), out); }),
              HasSubstr("attention.q"));
}

// docs/attention.md shows this, with a model's layers in place of random numbers.
TEST(KvCache, TheLoopOfTheDocumentation) {
  NumpyRandom random(9);
  const std::int64_t batch = 1, heads = 32, kv_heads = 8, head_dim = 128;
  const auto project = [&](std::int64_t count, std::int64_t h) {
    return normal<float>(Shape{batch, h, count, head_dim}, random);
  };

  KvCache<bfloat16> cache({batch, kv_heads, head_dim, head_dim});
  Tensor<float> out(Shape{batch, heads, 1, head_dim});
  cache.append(project(20, kv_heads), project(20, kv_heads));  // the prompt, rounded to 16 bits
  for (int token = 0; token < 3; ++token) {
    const auto q = normal<float>(Shape{batch, heads, 1, head_dim}, random);
    cache.append(project(1, kv_heads), project(1, kv_heads));
    cache.attend(q, out);
  }
  EXPECT_EQ(cache.length(0), 23);
}

}  // namespace
}  // namespace sextant::kv_cache_test
