// Operations on the sequences of a KV cache, against lists of numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "attention/cache/cache_cases.h"
#include "sextant/schemes/rotated/rotary.h"
#include "support/error_of.h"

namespace sextant::operations_test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kHeads = 2, kDim = 4, kValueDim = 2;

// A position: its key and value of each head, as numbers that name it. A rotation by half a turn
// negates the key.
struct Position {
  float name, sign;
};
using Model = std::vector<std::vector<Position>>;

// A row of int8 holds multiples of its largest number / 127: those of these whole numbers.
template <class T>
constexpr float kUnit = std::is_same_v<T, std::int8_t> ? 127 : 1;

template <class T>
void expect_model(const KvCache<T>& cache, const Model& model) {
  ASSERT_EQ(cache.batch(), std::ssize(model));
  const Tensor<FloatOf<T>> keys = cache.keys(), values = cache.values();
  for (std::int64_t s = 0; s < cache.batch(); ++s) {
    const auto& positions = model[static_cast<std::size_t>(s)];
    ASSERT_EQ(cache.length(s), std::ssize(positions));
    for (std::int64_t j = 0; j < cache.length(s); ++j) {
      const Position& p = positions[static_cast<std::size_t>(j)];
      for (std::int64_t h = 0; h < kHeads; ++h) {
        const float name = kUnit<T> * (p.name + static_cast<float>(h));
        ASSERT_EQ(static_cast<float>(keys(s, h, j, 1)), p.sign * name) << s << ", " << j;
        ASSERT_EQ(static_cast<float>(values(s, h, j, 0)), -name) << s << ", " << j;
      }
    }
  }
}

template <class T>
class KvCacheOperations : public ::testing::Test {};
using Elements = ::testing::Types<float, float16, bfloat16, std::int8_t>;
TYPED_TEST_SUITE(KvCacheOperations, Elements);

TYPED_TEST(KvCacheOperations, InAnyOrderDoWhatListsDo) {
  using T = TypeParam;
  using F = FloatOf<T>;
  NumpyRandom random(3);
  // A row of half a turn: 16-bit numbers are negated exactly.
  RotationTable<float> half{Tensor<float>(Shape{2, kDim / 2}), Tensor<float>(Shape{2, kDim / 2})};
  for (std::int64_t p = 0; p < kDim / 2; ++p) {
    half.cos(0, p) = 1;
    half.cos(1, p) = -1;
  }
  for (int run = 0; run < 3; ++run) {
    KvCache<T> cache({2, kHeads, kDim, kValueDim});
    Model model(2);
    std::vector<std::pair<KvCache<T>, Model>> others;
    int name = 0;
    for (int step = 0; step < 120; ++step) {
      const auto batch = static_cast<std::int64_t>(model.size());
      const std::int64_t one = pick(random, 0, batch - 1);
      auto& list = model[static_cast<std::size_t>(one)];
      const std::int64_t begin = pick(random, 0, std::ssize(list));
      const std::int64_t end = pick(random, begin, std::ssize(list));
      switch (pick(random, 0, 7)) {
        case 0:
        case 1: {
          std::vector<std::int64_t> counts;
          std::int64_t most = 0;
          for (auto& each : model) {
            const std::int64_t room = 400 - std::ssize(each);
            counts.push_back(pick(random, 0, std::min<std::int64_t>(150, room)));
            most = std::max(most, counts.back());
          }
          Tensor<float> k(Shape{batch, kHeads, most, kDim}),
              v(Shape{batch, kHeads, most, kValueDim});
          for (std::int64_t b = 0; b < batch; ++b) {
            for (std::int64_t j = 0; j < counts[static_cast<std::size_t>(b)]; ++j) {
              const auto number = static_cast<float>(name++ % 250);
              model[static_cast<std::size_t>(b)].push_back({number, 1});
              for (std::int64_t h = 0; h < kHeads; ++h) {
                k(b, h, j, 1) = kUnit<T> * (number + static_cast<float>(h));
                v(b, h, j, 0) = -kUnit<T> * (number + static_cast<float>(h));
              }
            }
          }
          if constexpr (std::is_same_v<F, float>) {
            cache.append(k, v, {.counts = counts});
          } else {
            cache.append(k.view(), v.view(), {.counts = counts});
          }
          break;
        }
        case 2:
          cache.drop(begin, end, one);
          list.erase(list.begin() + begin, list.begin() + end);
          break;
        case 3:
          cache.drop(begin, end);
          for (auto& each : model) {
            const auto length = std::ssize(each);
            each.erase(each.begin() + std::min(begin, length),
                       each.begin() + std::min(end, length));
          }
          break;
        case 4:
          cache.rotate(half, chance(random, 0.5) ? 1 : -1, begin, end, one);
          for (std::int64_t j = begin; j < end; ++j) list[static_cast<std::size_t>(j)].sign *= -1;
          break;
        case 5:
          others.emplace_back(cache.fork(), model);
          if (others.size() > 2) others.erase(others.begin());
          break;
        case 6: {
          std::vector<std::int64_t> chosen;
          Model next;
          for (std::int64_t n = pick(random, 1, 3); n > 0; --n) {
            chosen.push_back(pick(random, 0, batch - 1));
            next.push_back(model[static_cast<std::size_t>(chosen.back())]);
          }
          cache.select(chosen);
          model = std::move(next);
          break;
        }
        default:
          if (others.empty()) break;
          if (chance(random, 0.5)) {
            std::swap(cache, others.back().first);
            std::swap(model, others.back().second);
          } else if (batch < 4) {
            cache.join(others.back().first);
            model.insert(model.end(), others.back().second.begin(), others.back().second.end());
          }
      }
      expect_model(cache, model);
      for (const auto& [other, of_other] : others) expect_model(other, of_other);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

// Keys that were rotated for positions 30 .. 199 and moved by -30 are those of positions 0 .. 169.
TEST(KvCacheRotate, MovesKeysToOtherPositions) {
  NumpyRandom random(4);
  constexpr std::int64_t kLength = 200, kDrop = 30, kWidth = 16;
  const auto table = rotary<float>({.head_dim = kWidth}, kLength);
  const auto plain = random_rows<float>(random, 1, 2, kLength, kWidth);
  Tensor<float> stored(plain.shape()), wanted(Shape{1, 2, kLength - kDrop, kWidth});
  rotate<float>(plain.view(), stored.view(), table);
  rotate<float>(plain.view().narrow(2, kDrop, kLength - kDrop), wanted.view(),
                rotary<float>({.head_dim = kWidth}, kLength - kDrop));
  KvCache<float> cache({1, 2, kWidth, kWidth});
  cache.append(stored, plain);
  const KvCache<float> before = cache.fork();
  cache.drop(0, kDrop);
  cache.rotate(table, -kDrop);
  const Tensor<float> moved = cache.keys();
  // Two rotations instead of one. Each is within 2u (|x1| + |x2|) of the exact one of its rounded
  // cosines and sines (kernels/rotate/rotate_rows.h), which are within u / 2 each: at most 3u (|x1|
  // + |x2|) per rotation, three rotations in all, and |x1| + |x2| grows by at most sqrt(2).
  for (std::int64_t h = 0; h < 2; ++h) {
    for (std::int64_t j = 0; j < kLength - kDrop; ++j) {
      for (std::int64_t c = 0; c < kWidth; ++c) {
        const std::int64_t pair = c % (kWidth / 2);
        const double size =
            std::abs(static_cast<double>(plain(0, h, j + kDrop, pair))) +
            std::abs(static_cast<double>(plain(0, h, j + kDrop, pair + kWidth / 2)));
        EXPECT_NEAR(moved(0, h, j, c), wanted(0, h, j, c), 9 * std::sqrt(2) * 0x1p-24 * size);
      }
    }
  }
  EXPECT_TRUE(same_bits<float>(before.keys(), stored.view()));
}

TEST(KvCacheRotate, RefusesWhatDoesNotFit) {
  KvCache<float> cache({1, 1, 8, 8});
  const Tensor<float> rows(Shape{1, 1, 4, 8});
  cache.append(rows, rows);
  const auto table = rotary<float>({.head_dim = 8}, 10);
  const auto error = [&](const RotationTable<float>& by, std::int64_t shift) {
    return error_of([&] { cache.rotate(by, shift); });
  };
  EXPECT_EQ(error(table, 9), "no error");
  EXPECT_THAT(error(table, -10), HasSubstr("[kv_cache.shift] must be within +-9"));
  EXPECT_THAT(error(rotary<float>({.head_dim = 16}, 10), 1), HasSubstr("kv_cache.table"));
  RotationTable<float> louder = rotary<float>({.head_dim = 8}, 10);
  for (float& x : louder.cos.span()) x *= 1.1F;
  EXPECT_THAT(error(louder, 1), HasSubstr("[kv_cache.table] must have rows without an amplitude"));
}

TEST(KvCacheOperationsErrors, NameTheArgument) {
  KvCache<float> cache({2, 1, 8, 8});
  const Tensor<float> rows(Shape{2, 1, 4, 8});
  cache.append(rows, rows);
  EXPECT_THAT(error_of([&] { cache.drop(3, 2); }),
              HasSubstr("[kv_cache.begin] must be in 0 .. end = 2, got 3"));
  EXPECT_THAT(error_of([&] { cache.drop(0, 5, 1); }),
              HasSubstr("[kv_cache.end] must be in 0 .. 4, the length of sequence 1, got 5"));
  EXPECT_THAT(error_of([&] { cache.drop(0, 1, 2); }),
              HasSubstr("[kv_cache.sequence] must be in 0 .. 1, got 2"));
  EXPECT_THAT(error_of([&] { cache.rewind(-1); }), HasSubstr("kv_cache.length"));
  EXPECT_THAT(error_of([&] {
                cache.select(std::vector<std::int64_t>{0, 2});
              }),
              HasSubstr("kv_cache.sequence"));
  EXPECT_THAT(error_of([&] {
                cache.join(KvCache<float>({1, 1, 8, 4}));
              }),
              HasSubstr("[kv_cache.other] must have v_dim 8 as this cache, got 4"));
  EXPECT_EQ(cache.batch(), 2);
  cache.join(cache);
  EXPECT_EQ(cache.batch(), 4);
}

}  // namespace
}  // namespace sextant::operations_test
