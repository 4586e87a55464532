// The promise in full size: the bits of a row do not depend on threads, batch, packing or chunks.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "sextant/attention/attention.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant::same_bits_test {
namespace {

// Several blocks of keys and several tasks, ending in the middle of all of them.
constexpr std::int64_t kLength = 590, kHeads = 4, kHeadDim = 20, kValueDim = 12;

template <class T>
Tensor<T> drawn(const Shape& shape, NumpyRandom& random, double size = 1) {
  Tensor<T> x(shape);
  for (T& value : x.span()) value = static_cast<T>(static_cast<float>(size * random.normal()));
  return x;
}

// What a call may ask for, in combinations that reach every kernel.
enum class Kind { plain, causal, windowed, biased, masked, everything };

template <class T>
struct Call {
  explicit Call(Kind kind, std::int64_t batch = 1) : random(static_cast<std::uint32_t>(kind) + 1) {
    q = drawn<T>(Shape{batch, kHeads, kLength, kHeadDim}, random, 3);
    k = drawn<T>(Shape{batch, kHeads / 2, kLength, kHeadDim}, random);
    v = drawn<T>(Shape{batch, kHeads / 2, kLength, kValueDim}, random);
    bias = {drawn<float>(Shape{kHeads, 2 * kLength - 1}, random), kLength - 1};
    mask = drawn<float>(Shape{kHeads, kLength, kLength}, random);
    for (float& value : mask.span()) {
      if (value > 1) value = -std::numeric_limits<float>::infinity();
    }
    rotation = rotary<float>({.head_dim = kHeadDim}, kLength);
    options.causal = Causal::none;
    const bool all = kind == Kind::everything;
    if (kind != Kind::plain) options.causal = Causal::top_left;
    if (kind == Kind::windowed || all) options.window = {200, 0};
    if (kind == Kind::biased || all) {
      bias.slopes = {0.5, 0.25, 0.125, 0};
      options.bias = &bias;
    }
    if (all) {
      options.softcap = 5;
      options.sinks = sinks;
      options.rotation = &rotation;
    }
    masked = kind == Kind::masked || all;
    if (masked) options.mask = FloatMask<T>(mask.view());
  }

  Tensor<T> run(View<const T> some_q, View<const T> some_k, View<const T> some_v,
                const AttentionOptions<T>& chosen) const {
    Tensor<T> out(Shape{some_q.size(0), kHeads, some_q.size(2), kValueDim});
    attention(some_q, some_k, some_v, out, chosen);
    return out;
  }
  Tensor<T> run(const AttentionOptions<T>& chosen) const { return run(q, k, v, chosen); }

  NumpyRandom random;
  Tensor<T> q, k, v;
  DistanceBias bias;
  Tensor<float> mask;
  RotationTable<float> rotation;
  std::vector<double> sinks{0.5, -1, 2, 0};
  AttentionOptions<T> options;
  bool masked = false;
};

template <class T>
class SameBits : public ::testing::Test {};
using Stored = ::testing::Types<float, float16, bfloat16>;
TYPED_TEST_SUITE(SameBits, Stored);

constexpr Kind kKinds[] = {Kind::plain,  Kind::causal, Kind::windowed,
                           Kind::biased, Kind::masked, Kind::everything};

TYPED_TEST(SameBits, WithOneTwoThreeAndSevenThreads) {
  for (const Kind kind : kKinds) {
    Call<TypeParam> call(kind);
    call.options.threads = 1;
    const auto one = call.run(call.options);
    for (const int threads : {2, 3, 7}) {
      call.options.threads = threads;
      EXPECT_TRUE(same_bits<TypeParam>(call.run(call.options), one))
          << threads << " threads, kind " << static_cast<int>(kind);
    }
  }
}

TYPED_TEST(SameBits, AloneOrAtAnyPlaceOfABatch) {
  for (const Kind kind : kKinds) {
    const Call<TypeParam> call(kind, 3);
    const auto together = call.run(call.options);
    for (std::int64_t b = 0; b < 3; ++b) {
      const auto alone = call.run(call.q.view().narrow(0, b, 1), call.k.view().narrow(0, b, 1),
                                  call.v.view().narrow(0, b, 1), call.options);
      EXPECT_TRUE(same_bits<TypeParam>(alone, together.view().narrow(0, b, 1)))
          << "place " << b << ", kind " << static_cast<int>(kind);
    }
  }
}

TYPED_TEST(SameBits, AloneOrPackedWithOthers) {
  const std::vector<std::int64_t> segments{0, 3, 3, 300, 301, 460, kLength};
  for (const Kind kind :
       {Kind::plain, Kind::causal, Kind::windowed, Kind::biased, Kind::everything}) {
    Call<TypeParam> call(kind);
    call.options.mask = {};
    auto packed_options = call.options;
    packed_options.segments = segments;
    const auto packed = call.run(packed_options);
    for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
      const std::int64_t begin = segments[s], length = segments[s + 1] - begin;
      const auto alone =
          call.run(call.q.view().narrow(2, begin, length), call.k.view().narrow(2, begin, length),
                   call.v.view().narrow(2, begin, length), call.options);
      EXPECT_TRUE(same_bits<TypeParam>(alone, packed.view().narrow(2, begin, length)))
          << "segment " << s << ", kind " << static_cast<int>(kind);
    }
  }
}

TYPED_TEST(SameBits, APromptWholeOrInChunks) {
  for (const Kind kind :
       {Kind::causal, Kind::windowed, Kind::biased, Kind::masked, Kind::everything}) {
    const Call<TypeParam> call(kind);
    const auto whole = call.run(call.options);
    for (const std::int64_t chunk : {1, 7, 64, 200}) {
      // One query at a time is slow to test and no different in the middle.
      const std::int64_t step = chunk == 1 ? 37 : chunk;
      for (std::int64_t begin = 0; begin < kLength; begin += step) {
        const std::int64_t end = std::min(kLength, begin + chunk);
        auto options = call.options;
        options.causal = Causal::at_offsets;
        const std::vector<std::int64_t> offsets{begin};
        options.query_offsets = offsets;
        if (call.masked) {
          options.mask = FloatMask<TypeParam>(
              call.mask.view().narrow(1, begin, end - begin).narrow(2, 0, end));
        }
        // The keys so far, as a cache would hold them.
        const auto part =
            call.run(call.q.view().narrow(2, begin, end - begin), call.k.view().narrow(2, 0, end),
                     call.v.view().narrow(2, 0, end), options);
        ASSERT_TRUE(same_bits<TypeParam>(part, whole.view().narrow(2, begin, end - begin)))
            << "chunks of " << chunk << " at " << begin << ", kind " << static_cast<int>(kind);
      }
    }
  }
}

TYPED_TEST(SameBits, PaddingBehindTheKeysOrNone) {
  const Call<TypeParam> call(Kind::plain);
  const std::vector<std::int64_t> lengths{333};
  auto options = call.options;
  options.key_lengths = lengths;
  const auto padded = call.run(options);
  const auto cut = call.run(call.q, call.k.view().narrow(2, 0, 333),
                            call.v.view().narrow(2, 0, 333), call.options);
  EXPECT_TRUE(same_bits<TypeParam>(padded, cut));
}

TYPED_TEST(SameBits, KeysAndQueriesTurnedBeforeOrInside) {
  if constexpr (std::is_same_v<TypeParam, float>) {  // others round what was rotated before
    const Call<float> call(Kind::everything);
    Tensor<float> q(call.q.shape()), k(call.k.shape());
    rotate<float>(call.q, q, call.rotation);
    rotate<float>(call.k, k, call.rotation);
    auto options = call.options;
    options.rotation = nullptr;
    EXPECT_TRUE(same_bits<float>(call.run(q, k, call.v, options), call.run(call.options)));
  }
}

TYPED_TEST(SameBits, AnyStrides) {
  const Call<TypeParam> call(Kind::everything);
  NumpyRandom random(5);
  const auto scattered = [&](const Tensor<TypeParam>& x) {
    Tensor<TypeParam> buffer(Shape{x.size(0), x.size(2), x.size(3), x.size(1) + 1});
    auto view = buffer.view().transpose(1, 3).transpose(2, 3);
    view = view.narrow(1, 0, x.size(1));
    each_index(x.shape(),
               [&](const auto& i, std::int64_t n) { view(i[0], i[1], i[2], i[3]) = x.data()[n]; });
    return std::pair(std::move(buffer), view);
  };
  const auto q = scattered(call.q), k = scattered(call.k), v = scattered(call.v);
  EXPECT_TRUE(same_bits<TypeParam>(call.run(q.second, k.second, v.second, call.options),
                                   call.run(call.options)));
}

}  // namespace
}  // namespace sextant::same_bits_test
