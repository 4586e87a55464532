// The same bits for the same row, whatever surrounds it; and nothing hidden is ever read.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "sextant/attention/attention.h"

namespace sextant::invariance_test {
namespace {

template <class T>
Tensor<T> attend(View<const T> q, View<const T> k, View<const T> v,
                 const AttentionOptions<T>& options) {
  Tensor<T> out(Shape{q.size(0), q.size(1), q.size(2), v.size(3)});
  attention(q, k, v, out, options);
  return out;
}

// Three sequences of causal, windowed, capped, biased attention with grouped heads.
template <class T>
class AttentionBits : public ::testing::Test {
 protected:
  AttentionBits() {
    options.causal = Causal::top_left;
    options.window = {20, -1};
    options.softcap = 4;
    bias.values = Tensor<float>(Shape{4, 2 * kLength - 1});
    bias.origin = kLength - 1;
    for (float& value : bias.values.span()) value = static_cast<float>(random.normal());
    options.bias = &bias;
    options.threads = 1;
  }

  static constexpr std::int64_t kLength = 37;
  NumpyRandom random{11};
  Tensor<T> q = normal<T>(Shape{3, 4, kLength, 6}, random),
            k = normal<T>(Shape{3, 2, kLength, 6}, random),
            v = normal<T>(Shape{3, 2, kLength, 5}, random);
  DistanceBias bias;
  AttentionOptions<T> options;
};
using Elements = ::testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionBits, Elements);

TYPED_TEST(AttentionBits, DoNotDependOnTheNumberOfThreads) {
  using T = TypeParam;
  const auto one = attend<T>(this->q, this->k, this->v, this->options);
  const auto weights = attention_weights<T>(this->q, this->k, this->options);
  for (const int threads : {0, 2, 3, 7, 30}) {
    this->options.threads = threads;
    EXPECT_TRUE(same_bits<T>(attend<T>(this->q, this->k, this->v, this->options), one)) << threads;
    EXPECT_TRUE(same_bits<T>(attention_weights<T>(this->q, this->k, this->options), weights))
        << threads;
  }
}

TYPED_TEST(AttentionBits, DoNotDependOnTheBatchNorOnThePlaceInIt) {
  using T = TypeParam;
  const auto whole = attend<T>(this->q, this->k, this->v, this->options);
  for (std::int64_t b = 0; b < 3; ++b) {
    const auto alone = attend<T>(this->q.view().narrow(0, b, 1), this->k.view().narrow(0, b, 1),
                                 this->v.view().narrow(0, b, 1), this->options);
    EXPECT_TRUE(same_bits<T>(alone, whole.view().narrow(0, b, 1))) << b;
  }
  // The batch backwards, through negative strides.
  const auto backwards = [](const Tensor<T>& x) {
    const std::array<std::int64_t, 4> strides{-x.view().stride(0), x.view().stride(1),
                                              x.view().stride(2), 1};
    return View<const T>(x.data() + 2 * x.view().stride(0), x.shape(), strides);
  };
  const auto reversed =
      attend<T>(backwards(this->q), backwards(this->k), backwards(this->v), this->options);
  EXPECT_TRUE(same_bits<T>(reversed, backwards(whole)));
}

TYPED_TEST(AttentionBits, DoNotDependOnHowAPromptWasCutIntoChunks) {
  using T = TypeParam;
  const auto whole = attend<T>(this->q, this->k, this->v, this->options);
  this->options.causal = Causal::bottom_right;
  for (const std::int64_t chunk : {1, 5, 36}) {
    for (std::int64_t first = 0; first < this->kLength; first += chunk) {
      const std::int64_t length = std::min(chunk, this->kLength - first), seen = first + length;
      const auto part =
          attend<T>(this->q.view().narrow(2, first, length), this->k.view().narrow(2, 0, seen),
                    this->v.view().narrow(2, 0, seen), this->options);
      EXPECT_TRUE(same_bits<T>(part, whole.view().narrow(2, first, length)))
          << first << " by " << chunk;
    }
  }
}

TYPED_TEST(AttentionBits, DoNotDependOnTheRoomLeftInACache) {
  using T = TypeParam;
  // A buffer of 37 places, filled to another length in each sequence; three new queries each.
  const std::vector<std::int64_t> filled{37, 9, 3}, offsets{34, 6, 0};
  const auto q_new = this->q.view().narrow(2, 0, 3);
  this->options.causal = Causal::at_offsets;
  this->options.query_offsets = offsets;
  this->options.key_lengths = filled;
  const auto together = attend<T>(q_new, this->k, this->v, this->options);
  this->options.causal = Causal::bottom_right;
  this->options.query_offsets = {};
  this->options.key_lengths = {};
  for (std::int64_t b = 0; b < 3; ++b) {
    const std::int64_t length = filled[static_cast<std::size_t>(b)];
    const auto alone =
        attend<T>(q_new.narrow(0, b, 1), this->k.view().narrow(0, b, 1).narrow(2, 0, length),
                  this->v.view().narrow(0, b, 1).narrow(2, 0, length), this->options);
    EXPECT_TRUE(same_bits<T>(alone, together.view().narrow(0, b, 1))) << b;
  }
}

TYPED_TEST(AttentionBits, DoNotDependOnTheLayout) {
  using T = TypeParam;
  const auto whole = attend<T>(this->q, this->k, this->v, this->options);
  // [batch, length, heads, head_dim], and head_dim before length.
  const auto by_length = copy_of(this->q.view().transpose(1, 2)),
             by_channel = copy_of(this->k.view().transpose(2, 3)),
             by_width = copy_of(this->v.view().transpose(0, 3));
  EXPECT_TRUE(
      same_bits<T>(attend<T>(by_length.view().transpose(1, 2), by_channel.view().transpose(2, 3),
                             by_width.view().transpose(0, 3), this->options),
                   whole));
}

TYPED_TEST(AttentionBits, OfGroupedHeadsAreThoseOfRepeatedKeysAndValues) {
  using T = TypeParam;
  const auto repeat = [](const Tensor<T>& x) {  // [3, 2, n, d] -> [3, 2, 2, n, d] -> [3, 4, n, d]
    const auto wide = x.view();
    const std::array<std::int64_t, 5> strides{wide.stride(0), wide.stride(1), 0, wide.stride(2), 1};
    const auto copy =
        copy_of(View<const T>(x.data(), Shape{3, 2, 2, x.size(2), x.size(3)}, strides));
    Tensor<T> flat(Shape{3, 4, x.size(2), x.size(3)});
    std::copy_n(copy.data(), copy.count(), flat.data());
    return flat;
  };
  EXPECT_TRUE(same_bits<T>(attend<T>(this->q, repeat(this->k), repeat(this->v), this->options),
                           attend<T>(this->q, this->k, this->v, this->options)));
}

// Ways to hide keys 3 and 4 of 5 from every query, and what has to hold in each.
template <class T>
class AttentionHidden : public ::testing::Test {
 protected:
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  static constexpr T kInf = std::numeric_limits<T>::infinity();

  // The bits of the output and of the last two stages, computed with clean and with poisoned keys.
  void expect_no_leak(const char* how) {
    const auto clean = attend<T>(q, k, v, options);
    const auto clean_weights = attention_weights<T>(q, k, options);
    const auto clean_biased = attention_weights<T>(q, k, options, {.stage = Stage::biased});
    for (const T poison : {kNan, kInf, -kInf, std::numeric_limits<T>::max()}) {
      auto bad_k = k.clone(), bad_v = v.clone();
      for (std::int64_t h = 0; h < 2; ++h)
        for (std::int64_t j = 3; j < 5; ++j)
          for (std::int64_t d = 0; d < 6; ++d) bad_k(0, h, j, d) = bad_v(0, h, j, d) = poison;
      EXPECT_TRUE(same_bits<T>(attend<T>(q, bad_k, bad_v, options), clean)) << how << " " << poison;
      EXPECT_TRUE(same_bits<T>(attention_weights<T>(q, bad_k, options), clean_weights)) << how;
      EXPECT_TRUE(same_bits<T>(attention_weights<T>(q, bad_k, options, {.stage = Stage::biased}),
                               clean_biased))
          << how;
    }
    for (std::int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(clean_weights(0, 1, i, 3), 0) << how;
      EXPECT_EQ(clean_biased(0, 1, i, 4), -kInf) << how;
    }
    for (const T value : clean.span()) EXPECT_TRUE(std::isfinite(value)) << how;
  }

  NumpyRandom random{12};
  Tensor<T> q = normal<T>(Shape{1, 4, 3, 6}, random), k = normal<T>(Shape{1, 2, 5, 6}, random),
            v = normal<T>(Shape{1, 2, 5, 6}, random);
  AttentionOptions<T> options;
};
TYPED_TEST_SUITE(AttentionHidden, Elements);

TYPED_TEST(AttentionHidden, KeysDoNotLeakHoweverTheyAreHidden) {
  using T = TypeParam;
  auto& set = this->options;
  const std::vector<std::int64_t> lengths{3};
  set.key_lengths = lengths;
  this->expect_no_leak("key_lengths");
  set = {};
  Tensor<bool> allowed(Shape{5});
  allowed(0) = allowed(1) = allowed(2) = true;
  set.mask = allowed;
  this->expect_no_leak("bool mask");
  Tensor<T> added(Shape{1, 5});
  added(0, 3) = added(0, 4) = -this->kInf;
  set.mask = added;
  this->expect_no_leak("float mask");
  set = {.causal = Causal::top_left};
  this->expect_no_leak("causal");
  set = {.causal = Causal::none, .window = {-1, 0}};
  this->expect_no_leak("window");
  const std::vector<std::int64_t> offsets{-1};
  set = {.query_offsets = offsets, .window = {-1, 1}};
  this->expect_no_leak("offsets");
  // Distances 1 and up: keys 3 and 4 are right of every query, so are others.
  DistanceBias bias{Tensor<float>(Shape{1, 7}), 2};
  for (std::int64_t n = 3; n < 7; ++n) bias.values(0, n) = -std::numeric_limits<float>::infinity();
  set = {.causal = Causal::none, .bias = &bias};
  this->expect_no_leak("distance bias");
}

TYPED_TEST(AttentionHidden, AVisibleNanReachesTheRowsThatSeeItAndNoOthers) {
  using T = TypeParam;
  this->options.causal = Causal::top_left;
  const auto clean = attend<T>(this->q, this->k, this->v, this->options);
  auto bad_k = this->k.clone(), bad_v = this->v.clone();
  bad_k(0, 0, 1, 2) = this->kNan;  // key head 0: query heads 0 and 1
  bad_v(0, 1, 1, 2) = this->kNan;  // key head 1, channel 2
  const auto out = attend<T>(this->q, bad_k, bad_v, this->options);
  for (std::int64_t h = 0; h < 4; ++h)
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t c = 0; c < 6; ++c) {
        const bool reached = i >= 1 && (h < 2 || c == 2);
        if (reached) {
          EXPECT_TRUE(std::isnan(out(0, h, i, c))) << h << i << c;
        } else {
          EXPECT_EQ(out(0, h, i, c), clean(0, h, i, c)) << h << i << c;
        }
      }
}

TYPED_TEST(AttentionHidden, ARowThatSeesNothingIsZerosEvenWhenItsQueryIsNan) {
  using T = TypeParam;
  Tensor<bool> mask(Shape{3, 5});
  for (bool& allowed : mask.span()) allowed = true;
  for (std::int64_t j = 0; j < 5; ++j) mask(1, j) = false;
  this->options.mask = mask;
  for (std::int64_t d = 0; d < 6; ++d) this->q(0, 2, 1, d) = this->kNan;
  const auto out = attend<T>(this->q, this->k, this->v, this->options);
  const auto weights = attention_weights<T>(this->q, this->k, this->options);
  const auto biased =
      attention_weights<T>(this->q, this->k, this->options, {.stage = Stage::biased});
  for (std::int64_t h = 0; h < 4; ++h) {
    for (std::int64_t c = 0; c < 6; ++c) {
      EXPECT_EQ(out(0, h, 1, c), 0);
      EXPECT_FALSE(std::signbit(out(0, h, 1, c)));
    }
    for (std::int64_t j = 0; j < 5; ++j) {
      EXPECT_EQ(weights(0, h, 1, j), 0);
      EXPECT_EQ(biased(0, h, 1, j), -this->kInf);
    }
    double sum = 0;
    for (std::int64_t j = 0; j < 5; ++j) sum += static_cast<double>(weights(0, h, 0, j));
    EXPECT_NEAR(sum, 1, 5 * 0x1p-24);  // two sums, a reciprocal, a product, another rounding
  }
}

}  // namespace
}  // namespace sextant::invariance_test
