// Caches of 8 bits: what they store of a row, how far their outputs are from those of the numbers
// before, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "attention/cache/cache_cases.h"
#include "reference/attention.h"
#include "sextant/core/safetensors.h"
#include "sextant/schemes/rotated/rotary.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace sextant::quantized_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Cache = KvCache<std::int8_t>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

double size_of(float x) { return std::abs(static_cast<double>(x)); }

// largest / 127 in float32, rounded up to 17 bits.
double scale_of(double largest) {
  int exponent = 0;
  const double fraction =
      std::frexp(static_cast<double>(static_cast<float>(largest / 127)), &exponent);
  return std::ldexp(std::ceil(std::ldexp(fraction, 17)), exponent - 17);
}

// Quotients of at most 127 are rounded to float32: within 2^-17.
TEST(QuantizedKvCache, StoresTheNearestMultipleOfTheScaleOfARow) {
  NumpyRandom random(1);
  for (const std::int64_t channels : {1, 3, 16, 40, 128, 200}) {
    auto k = random_rows<float>(random, 1, 2, 150, channels);
    for (std::int64_t j = 0; j < 150; ++j) {
      const float factor = std::ldexp(1.0F, static_cast<int>(pick(random, -100, 100)));
      for (std::int64_t h = 0; h < 2; ++h) {
        for (std::int64_t c = 0; c < channels; ++c) k(0, h, j, c) *= factor;
      }
    }
    Cache cache({1, 2, channels, channels});
    cache.append(k, k);
    const Tensor<float> stored = cache.keys();
    ASSERT_TRUE(same_bits<float>(stored, cache.values()));
    for (std::int64_t h = 0; h < 2; ++h) {
      for (std::int64_t j = 0; j < 150; ++j) {
        double largest = 0, largest_stored = 0;
        for (std::int64_t c = 0; c < channels; ++c) {
          largest = std::max(largest, size_of(k(0, h, j, c)));
        }
        const double scale = scale_of(largest);
        for (std::int64_t c = 0; c < channels; ++c) {
          const double multiple = static_cast<double>(stored(0, h, j, c)) / scale;
          const double error = static_cast<double>(k(0, h, j, c)) / scale - multiple;
          ASSERT_EQ(multiple, std::nearbyint(multiple)) << channels << ", " << j;
          ASSERT_LE(std::abs(error), 0.5 + 0x1p-17) << channels << ", " << j;
          largest_stored = std::max(largest_stored, std::abs(multiple));
        }
        ASSERT_EQ(largest_stored, 127);
      }
    }
    // What was read is stored with the same bits.
    Cache again({1, 2, channels, channels});
    again.append(stored, stored);
    ASSERT_TRUE(same_bits<float>(again.keys(), stored.view()));
  }
}

TEST(QuantizedKvCache, RoundsTiesToEvenAndFloat64ToFloat32First) {
  Tensor<double> k(Shape{1, 1, 1, 6});
  std::ranges::copy(std::vector<double>{127, 0.5, 1.5, -2.5, -0.5 - 0x1p-20, 126.5 + 0x1p-40},
                    k.data());
  Cache cache({1, 1, 6, 6});
  cache.append(k, k);
  const Tensor<float> stored = cache.keys();
  EXPECT_THAT(stored.span(), ElementsAre(127, 0, 2, -2, -1, 126));
}

TEST(QuantizedKvCache, StoresRowsWithoutANormalScaleAsZeros) {
  Tensor<float> k(Shape{1, 1, 4, 3});
  k(0, 0, 1, 0) = std::numeric_limits<float>::denorm_min();
  k(0, 0, 2, 1) = -126 * std::numeric_limits<float>::min();
  k(0, 0, 3, 2) = -128 * std::numeric_limits<float>::min();
  Cache cache({1, 1, 3, 0});
  cache.append(k, Tensor<float>(Shape{1, 1, 4, 0}));
  const Tensor<float> stored = cache.keys();
  for (std::int64_t j = 0; j < 3; ++j) {
    for (std::int64_t c = 0; c < 3; ++c) EXPECT_EQ(stored(0, 0, j, c), 0);
  }
  EXPECT_NEAR(stored(0, 0, 3, 2) / k(0, 0, 3, 2), 1, 0x1p-16);
}

TEST(QuantizedKvCache, TakesAboutHalfOfTheMemoryOf16Bits) {
  NumpyRandom random(2);
  Cache cache({1, 2, 64, 32});
  KvCache<bfloat16> wide({1, 2, 64, 32});
  append_random(cache, random, std::vector<std::int64_t>{100});
  append_random(wide, random, std::vector<std::int64_t>{100});
  EXPECT_EQ(cache.bytes(), 2 * 128 * (64 + 4 + 32 + 4));
  EXPECT_EQ(wide.bytes(), 2 * 128 * (64 + 32) * 2);
}

// With keys and values off by a relative r = 1 / 254 of the largest of their row, a score moves by
// at most e = r scale |q|_1 max|k|, weights by at most exp(2 e) - 1 of their sum, and an output by
// at most (r + exp(2 e) - 1) max|v|. Float32 adds less than 1e-5.
TEST(QuantizedKvCache, GivesOutputsWithinTheBoundOfTheNumbersBefore) {
  NumpyRandom random(3);
  constexpr double kRelative = (1 + 0x1p-15) / 254;
  for (const std::int64_t head_dim : {40, 128}) {
    for (const std::int64_t count : {1, 5, 30}) {
      constexpr std::int64_t kKeys = 300;
      const auto q = random_rows<float>(random, 2, 4, count, head_dim),
                 k = random_rows<float>(random, 2, 2, kKeys, head_dim),
                 v = random_rows<float>(random, 2, 2, kKeys, 32);
      const auto exact = [](const Tensor<float>& x) {
        Tensor<double> wide(x.shape());
        std::ranges::copy(x.span(), wide.data());
        return wide;
      };
      const double scale = 1 / std::sqrt(static_cast<double>(head_dim));
      const auto wanted =
          reference::attend({.q = exact(q),
                             .k = exact(k),
                             .v = exact(v),
                             .sees = [&](auto, auto, std::int64_t i,
                                         std::int64_t j) { return j <= i + kKeys - count; },
                             .added = [](auto, auto, auto, auto) { return 0.0; },
                             .scale = scale});
      Cache cache({2, 2, head_dim, 32});
      cache.append(k, v);
      Tensor<float> out(Shape{2, 4, count, 32});
      cache.attend(q, out);
      double largest_k = 0, largest_v = 0, worst = 0;
      for (const float x : k.span()) largest_k = std::max(largest_k, size_of(x));
      for (const float x : v.span()) largest_v = std::max(largest_v, size_of(x));
      for (std::int64_t row = 0; row < 2 * 4 * count; ++row) {
        double norm = 0;
        for (std::int64_t c = 0; c < head_dim; ++c) norm += size_of(q.data()[row * head_dim + c]);
        const double moved = kRelative * scale * norm * largest_k;
        const double bound = (kRelative + std::expm1(2 * moved)) * largest_v + 1e-5;
        for (std::int64_t c = row * 32; c < row * 32 + 32; ++c) {
          const double error =
              std::abs(static_cast<double>(out.data()[c]) - wanted.output.data()[c]);
          ASSERT_LE(error, bound) << head_dim << " channels, " << count << " queries";
          worst = std::max(worst, error);
        }
      }
      // Errors of keys and values are independent, so they are far smaller in fact.
      EXPECT_LT(worst, 0.02);
      EXPECT_GT(worst, 1e-4);
    }
  }
}

// Channels that tiles read in place and that are copied, threads that share a task, long sums.
TEST(QuantizedKvCache, GivesTheBitsOfAttentionOverWhatItHolds) {
  NumpyRandom random(4);
  for (const std::int64_t width : {16, 32, 48, 64, 96, 128}) {
    for (const std::int64_t keys : {1, 15, 17, 300, 5000}) {
      Cache cache({1, 1, width, width, 256});
      append_random(cache, random, std::vector<std::int64_t>{keys});
      for (const std::int64_t heads : {1, 3, 8}) {
        for (const int threads : {1, 3}) {
          expect_packed_bits<std::int8_t>(cache, random, std::vector<std::int64_t>{1}, heads,
                                          {.threads = threads});
        }
      }
      expect_packed_bits<std::int8_t>(
          cache, random, std::vector<std::int64_t>{std::min(keys, std::int64_t{9})}, 2, {});
    }
  }
}

// Queries that are not finite send their rows to the plain path, float64 ones all.
TEST(QuantizedKvCache, IsReadByThePlainPath) {
  NumpyRandom random(5);
  Cache cache({1, 2, 32, 16});
  append_random(cache, random, std::vector<std::int64_t>{200});
  const Tensor<float> k = cache.keys(), v = cache.values();
  for (const std::int64_t count : {1, 20}) {
    auto q = random_rows<float>(random, 1, 4, count, 32);
    q(0, 1, 0, 3) = kInfinity;
    q(0, 2, count - 1, 0) = std::numeric_limits<float>::quiet_NaN();
    Tensor<float> out(Shape{1, 4, count, 16}), wanted(out.shape());
    cache.attend(q, out);
    attention<float>(q, k, v, wanted, {.causal = Causal::bottom_right});
    EXPECT_TRUE(same_bits<float>(out, wanted)) << count;
    EXPECT_TRUE(std::isnan(out(0, 2, count - 1, 0)));
  }
  Tensor<double> q(Shape{1, 4, 3, 32}), wide_k(k.shape()), wide_v(v.shape());
  for (double& x : q.span()) x = random.uniform();
  std::ranges::copy(k.span(), wide_k.data());
  std::ranges::copy(v.span(), wide_v.data());
  Tensor<double> out(Shape{1, 4, 3, 16}), wanted(out.shape());
  cache.attend(q, out);
  attention<double>(q, wide_k, wide_v, wanted, {.causal = Causal::bottom_right});
  EXPECT_TRUE(same_bits<double>(out, wanted));
}

TEST(QuantizedKvCache, RotatesKeysInFloat32AndStoresThemOnceMore) {
  NumpyRandom random(6);
  const auto table = rotary<float>({.head_dim = 24}, 50);
  Cache cache({2, 2, 32, 8});
  append_random(cache, random, std::vector<std::int64_t>{300, 40});
  const Cache before = cache.fork();
  cache.rotate(table, 7, 10, 290);
  const Tensor<float> k = before.keys();
  Tensor<float> rotated(k.shape());
  RotationTable<float> row{Tensor<float>(Shape{300, 12}), Tensor<float>(Shape{300, 12})};
  for (std::int64_t j = 0; j < 300; ++j) {
    for (std::int64_t p = 0; p < 12; ++p) {
      row.cos(j, p) = j < 10 || j >= 290 ? 1.0F : table.cos(7, p);
      row.sin(j, p) = j < 10 || j >= 290 ? 0.0F : table.sin(7, p);
    }
  }
  rotate<float>(k.view(), rotated.view(), row);
  Cache wanted({2, 2, 32, 8});
  wanted.append(rotated, before.values(), {.counts = before.lengths()});
  EXPECT_TRUE(same_bits<float>(cache.keys(), wanted.keys()));
  EXPECT_TRUE(same_bits<float>(cache.values(), before.values()));
}

TEST(QuantizedKvCache, RefusesNumbersWithoutAScaleAndChangesNothing) {
  NumpyRandom random(7);
  Cache cache({2, 1, 4, 3});
  const auto k = random_rows<float>(random, 2, 1, 3, 4), v = random_rows<float>(random, 2, 1, 3, 3);
  cache.append(k, v);
  auto bad_k = copy_of(k.view()), bad_v = copy_of(v.view());
  bad_k(1, 0, 2, 3) = std::numeric_limits<float>::quiet_NaN();
  bad_v(1, 0, 1, 0) = -kInfinity;
  EXPECT_THAT(error_of([&] { cache.append(bad_k, v); }),
              HasSubstr("[kv_cache.k] must be within +-1e38 for a cache of int8, got nan in row 2 "
                        "of head 0"));
  EXPECT_THAT(error_of([&] { cache.append(k, bad_v); }), HasSubstr("[kv_cache.v] must be within "
                                                                   "+-1e38 for a cache of int8, "
                                                                   "got -inf in row 1"));
  Tensor<double> large(k.shape());
  large(0, 0, 0, 0) = 1e39;
  EXPECT_THAT(error_of([&] { cache.append(large, v); }), HasSubstr("got 1e+39 in row 0"));
  EXPECT_THAT(cache.lengths(), ElementsAre(3, 3));

  // Padding may hold anything.
  const std::vector<std::int64_t> counts{3, 1};
  EXPECT_EQ(error_of([&] { cache.append(bad_k, bad_v, {.counts = counts}); }), "no error");
  EXPECT_THAT(cache.lengths(), ElementsAre(6, 4));

  Tensor<float> largest(Shape{1, 1, 1, 4});
  for (float& x : largest.span()) x = -1e38F;
  Cache one({1, 1, 4, 4});
  one.append(largest, largest);
  const Tensor<float> held = one.keys();
  for (const float x : held.span()) EXPECT_NEAR(x, -1e38F, 1e38F * 0x1p-16);
}

TEST(QuantizedKvCache, FilesAreRefusedThatDoNotHoldNumbersAndScales) {
  const auto error = [](const auto& change) {
    const TemporaryFolder folder;
    const std::string path = folder / "cache.safetensors";
    NumpyRandom random(8);
    Cache cache({2, 1, 4, 3});
    append_random(cache, random, std::vector<std::int64_t>{5, 2});
    cache.save(path);
    SafetensorsFile file = load_safetensors(path);
    change(file.tensors);
    save_safetensors(path, file.tensors, file.metadata);
    return error_of([&] { Cache::load(path); });
  };
  EXPECT_EQ(error([](auto&) {}), "no error");
  EXPECT_THAT(error([](auto& tensors) { tensors.erase("value_scales"); }),
              HasSubstr("must have keys [kv_heads, positions, head_dim]"));
  EXPECT_THAT(error([](auto& tensors) {
                tensors["more"] = std::move(tensors["value_scales"]);
                tensors.erase("value_scales");
              }),
              HasSubstr("value_scales"));
  EXPECT_THAT(error([](auto& tensors) { tensors.at("key_scales").dtype = DType::int32; }),
              HasSubstr("must have key_scales float32 [1, 7], got int32 [1, 7]"));
  for (const float scale : {-1.0F, kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e-40F}) {
    EXPECT_THAT(error([&](auto& tensors) {
                  std::memcpy(tensors.at("key_scales").bytes.data() + 4, &scale, 4);
                }),
                HasSubstr("must have scales of 0 or 2^-126 .. 2^120, got "));
  }
  const float other = 1;
  EXPECT_THAT(error([&](auto& tensors) {
                std::memcpy(tensors.at("value_scales").bytes.data(), &other, 4);
              }),
              HasSubstr("must have the checksum"));
}

}  // namespace
}  // namespace sextant::quantized_test
