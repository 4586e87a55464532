// Positions by name: rotation, distances and generators go by ids, all else by place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "attention/backward/backward_cases.h"
#include "attention/backward/gradient_errors.h"
#include "attention/same_bits.h"
#include "attention/strided.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/kv_cache.h"
#include "sextant/attention/plan.h"
#include "sextant/attention/statistics.h"
#include "sextant/schemes/rotated/rotary.h"
#include "support/error_of.h"

namespace sextant::position_ids_test {
namespace {

using Ids = Tensor<std::int64_t>;

// Goes by positions, whether there are ids or not; numbers that float32 holds exactly.
class PositionStripes final : public ScoreTerm {
 public:
  static constexpr std::int64_t kSize = 7;

  static std::int64_t number(std::int64_t query, std::int64_t key, std::int64_t head) {
    return std::abs(5 * query - 3 * key + head);
  }
  static float factor(std::int64_t n) { return n % 2 == 0 ? 0.5F : -1.0F; }
  float at(std::int64_t n) const { return table[static_cast<std::size_t>(n % kSize)] * factor(n); }

  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& tile) const noexcept override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        tile.add(i, j, at(number(tile.query_position(i), tile.key_position(j), tile.head)));
      }
    }
  }
  TermNeeds needs() const override { return {.parameters = kSize}; }
  void backward(const ScoreGradient<double>& tile) const noexcept override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        const std::int64_t n = number(tile.query_position(i), tile.key_position(j), tile.head);
        tile.parameters[n % kSize] +=
            tile.dscores[i * tile.stride + j] * static_cast<double>(factor(n));
      }
    }
  }

  std::vector<float> table{0.5F, -1, 0.25F, 1.5F, 0, -0.75F, 1};
};

// Ids that ascend by random steps.
Ids ascending(std::int64_t batch, std::int64_t length, NumpyRandom& random) {
  Ids ids(Shape{batch, length});
  for (std::int64_t b = 0; b < batch; ++b) {
    std::int64_t at = pick(random, 0, 4);
    for (std::int64_t i = 0; i < length; ++i) {
      ids(b, i) = at;
      at += pick(random, 1, 4);
    }
  }
  return ids;
}

// What hides pairs.
enum class Hiding { window, lengths, segments };

// A call with all that positions decide, and the oracle's description of it.
template <class T>
struct Call {
  using Wide = typename AttentionGradients<T>::Wide;
  static constexpr std::int64_t kHeads = 4, kHeadsK = 2;

  Call(Hiding hiding, std::int64_t q_len, std::int64_t k_len, NumpyRandom& random)
      : how(hiding),
        q(normal<T>(Shape{2, kHeads, q_len, 6}, random)),
        k(normal<T>(Shape{2, kHeadsK, k_len, 6}, random)),
        v(normal<T>(Shape{2, kHeadsK, k_len, 5}, random)),
        dout(normal<T>(Shape{2, kHeads, q_len, 5}, random)),
        out(dout.shape()),
        query_ids(ascending(2, q_len, random)),
        key_ids(ascending(2, k_len, random)) {
    const std::int64_t reach = 4 * std::max(q_len, k_len) + 5;
    rotation = {normal<float>(Shape{reach, 2}, random), normal<float>(Shape{reach, 2}, random),
                RotaryLayout::half_split, 1, nullptr};
    bias.values = normal<float>(Shape{kHeads, 2 * reach + 1}, random);
    bias.origin = reach;
    mask = Tensor<Wide>(Shape{q_len, k_len});
    lengths = {k_len, k_len - 2};
    segments = {0, q_len / 3, q_len};
    options.query_positions = query_ids;
    options.key_positions = key_ids;
    bias.slopes = {0.5, 0.125, 0, -0.25};
    options.bias = &bias;
    options.terms = {&stripes};
    options.rotation = &rotation;
    options.mask = FloatMask<T>(mask);
    if (how == Hiding::window) {
      options.causal = Causal::bottom_right;
      options.window.left = k_len / 2;
    } else if (how == Hiding::lengths) {
      options.key_lengths = lengths;
    } else {
      options.causal = Causal::top_left;
      options.segments = segments;
    }
  }

  reference::Attention oracle() const {
    reference::Attention call{.q = widened<T>(q), .k = widened<T>(k), .v = widened<T>(v)};
    rotate_ids(call.q, call.k, false);
    call.scale = 1 / std::sqrt(6.0);
    call.softcap = options.softcap;
    call.sees = [this](auto b, auto, auto i, auto j) {
      const std::int64_t own = i + k.size(2) - q.size(2);
      if (how == Hiding::window) return j <= own && j >= own - k.size(2) / 2;
      if (how == Hiding::lengths) return j < lengths[static_cast<std::size_t>(b)];
      return j <= i && (j < segments[1]) == (i < segments[1]);
    };
    call.added = [this](auto b, auto h, auto i, auto j) {
      const std::int64_t distance = key_ids(b, j) - query_ids(b, i);
      return static_cast<double>(bias.values(h, distance + bias.origin)) -
             bias.slopes[static_cast<std::size_t>(h)] * std::abs(static_cast<double>(distance)) +
             static_cast<double>(
                 stripes.at(PositionStripes::number(query_ids(b, i), key_ids(b, j), h)));
    };
    return call;
  }
  template <class Number>
  void rotate_ids(Tensor<Number>& queries, Tensor<Number>& keys, bool back) const {
    rotate_rows_of(queries, rotation, back, [&](auto b, auto i) { return query_ids(b, i); });
    rotate_rows_of(keys, rotation, back, [&](auto b, auto j) { return key_ids(b, j); });
  }

  // What backward() must give, in the arithmetic Real.
  template <class Number>
  struct Expected {
    Tensor<Number> q, k, v, bias, slopes, mask, indexed;
  };
  template <class Real>
  Expected<reference::KeptAs<Real>> expected() const {
    using Number = reference::KeptAs<Real>;
    const auto call = oracle();
    const auto stored = widened<T>(out);
    auto gradient = reference::attention_gradient<Real>(call, {}, widened<T>(dout),
                                                        sizeof(T) == 2 ? &stored : nullptr);
    rotate_ids(gradient.q, gradient.k, true);
    Expected<Number> e{std::move(gradient.q),
                       std::move(gradient.k),
                       std::move(gradient.v),
                       Tensor<Number>(bias.values.shape()),
                       Tensor<Number>(Shape{kHeads}),
                       Tensor<Number>(mask.shape()),
                       Tensor<Number>(Shape{PositionStripes::kSize})};
    each_index(gradient.added.shape(), [&](const auto& at, std::int64_t n) {
      const auto [b, h, i, j] = std::array{at[0], at[1], at[2], at[3]};
      if (!call.sees(b, h, i, j)) return;
      const Number ds = gradient.added.data()[n];
      const std::int64_t distance = key_ids(b, j) - query_ids(b, i);
      const std::int64_t number = PositionStripes::number(query_ids(b, i), key_ids(b, j), h);
      e.bias(h, distance + bias.origin) += ds;
      e.slopes(h) -= static_cast<Number>(std::abs(static_cast<double>(distance))) * ds;
      e.mask(i, j) += ds;
      e.indexed(number % PositionStripes::kSize) +=
          static_cast<Number>(static_cast<double>(PositionStripes::factor(number))) * ds;
    });
    return e;
  }

  struct Gradients {
    Tensor<T> q, k, v;
    Tensor<Wide> bias, slopes, mask;
    Tensor<double> indexed;
  };
  Gradients backward() {
    attention<T>(q, k, v, out, options);
    Gradients g{Tensor<T>(q.shape()),
                Tensor<T>(k.shape()),
                Tensor<T>(v.shape()),
                Tensor<Wide>(bias.values.shape()),
                Tensor<Wide>(Shape{kHeads}),
                Tensor<Wide>(mask.shape()),
                Tensor<double>(Shape{PositionStripes::kSize})};
    AttentionGradients<T> views{g.q, g.k, g.v, {g.bias, g.slopes}, g.mask, {}, {g.indexed}};
    attention_backward<T>(q, k, v, out, dout, views, options);
    return g;
  }

  Hiding how;
  Tensor<T> q, k, v, dout, out;
  Ids query_ids, key_ids;
  RotationTable<float> rotation;
  DistanceBias bias;
  Tensor<Wide> mask;
  PositionStripes stripes;
  std::vector<std::int64_t> lengths, segments;
  AttentionOptions<T> options;
};

template <class T>
class PositionIds : public ::testing::Test {
 protected:
  static constexpr double kEps = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;
  static constexpr double kStored = std::is_same_v<T, float16>    ? 0x1p-11
                                    : std::is_same_v<T, bfloat16> ? 0x1p-8
                                                                  : kEps;
  template <class E>
  static void near(const Tensor<E>& got, const Tensor<double>& want, double tolerance,
                   const char* what) {
    ASSERT_EQ(got.shape(), want.shape()) << what;
    for (std::int64_t n = 0; n < got.count(); ++n) {
      ASSERT_NEAR(static_cast<double>(got.data()[n]), want.data()[n],
                  tolerance + kStored * std::abs(want.data()[n]))
          << what << " " << n;
    }
  }

  // All gradients of some ways to make a call's.
  static void compare(GradientErrors& errors, const Call<T>& call,
                      std::initializer_list<typename Call<T>::Gradients> ways) {
    const auto exact = call.template expected<typename Rounding<T>::Exact>();
    const auto plain = call.template expected<typename Rounding<T>::Plain>();
    const auto error = call.template expected<reference::RoundingError>();
    for (const auto& got : ways) {
      using Wide = typename Call<T>::Wide;
      errors.compare<T>("q", widened<T>(got.q), exact.q, plain.q, error.q);
      errors.compare<T>("k", widened<T>(got.k), exact.k, plain.k, error.k);
      errors.compare<T>("v", widened<T>(got.v), exact.v, plain.v, error.v);
      errors.compare<Wide>("bias", widened<Wide>(got.bias), exact.bias, plain.bias, error.bias);
      errors.compare<Wide>("slopes", widened<Wide>(got.slopes), exact.slopes, plain.slopes,
                           error.slopes);
      errors.compare<Wide>("mask", widened<Wide>(got.mask), exact.mask, plain.mask, error.mask);
      errors.compare<Wide>("indexed", got.indexed, exact.indexed, plain.indexed, error.indexed);
    }
  }

  template <class Check>
  static void for_each_call(const Check& check) {
    // Several blocks of the kernel, few queries, and few keys.
    const std::int64_t most = std::is_same_v<T, double> ? 30 : 150;
    for (const auto& [q_len, k_len] : {std::pair{most, most + 40}, {std::int64_t{5}, most}}) {
      for (const Hiding how : {Hiding::window, Hiding::lengths, Hiding::segments}) {
        for (const double softcap : {0.0, 3.0}) {
          SCOPED_TRACE(std::to_string(static_cast<int>(how)) + ", " + std::to_string(q_len) +
                       " queries" + (softcap > 0 ? ", capped" : ""));
          NumpyRandom random(9);
          Call<T> call(how, q_len, how == Hiding::segments ? q_len : k_len, random);
          call.options.softcap = softcap;
          check(call);
        }
      }
    }
  }
};
using Elements = ::testing::Types<float, double, float16, bfloat16>;
TYPED_TEST_SUITE(PositionIds, Elements);

TYPED_TEST(PositionIds, DecideRotationDistancesAndGenerators) {
  using T = TypeParam;
  this->for_each_call([&](Call<T>& call) {
    attention<T>(call.q, call.k, call.v, call.out, call.options);
    const auto oracle = call.oracle();
    const auto expected = reference::attend(oracle);
    // The standard bounds on sums of products: the relative error of a weight, times v below 5.
    const double score_error = (6 + 14) * this->kEps * (expected.largest_score + 20);
    const double keys = static_cast<double>(call.k.size(2));
    const double weight_error = 2 * score_error + 4 * (keys + 16) * this->kEps;
    this->near(call.out, expected.output, weight_error * 5, "out");
    const auto weights = attention_weights<T>(call.q, call.k, call.options);
    this->near(weights, expected.probabilities, weight_error, "weights");
    const auto biased =
        attention_weights<T>(call.q, call.k, call.options, {.stage = Stage::biased});
    for (std::int64_t n = 0; n < biased.count(); ++n) {
      const double got = static_cast<double>(biased.data()[n]), want = expected.biased.data()[n];
      if (std::isinf(want)) {
        ASSERT_EQ(got, want) << n;
      } else {
        ASSERT_NEAR(got, want, score_error + this->kStored * std::abs(want)) << n;
      }
    }
  });
}

TYPED_TEST(PositionIds, DecideGradients) {
  using T = TypeParam;
  GradientErrors errors;
  this->for_each_call([&](Call<T>& call) { this->compare(errors, call, {call.backward()}); });
  errors.expect_small();
}

// Each bit of all that a call can give, for two ways to say the same.
template <class T>
void expect_same_bits(Call<T>& one, Call<T>& other) {
  const auto a = one.backward(), b = other.backward();
  EXPECT_TRUE(same_bits<T>(one.out, other.out)) << "out";
  EXPECT_TRUE(same_bits<T>(a.q, b.q)) << "q";
  EXPECT_TRUE(same_bits<T>(a.k, b.k)) << "k";
  EXPECT_TRUE(same_bits<T>(a.v, b.v)) << "v";
  EXPECT_TRUE((same_bits<typename Call<T>::Wide>(a.bias, b.bias))) << "bias";
  EXPECT_TRUE((same_bits<typename Call<T>::Wide>(a.slopes, b.slopes))) << "slopes";
  EXPECT_TRUE((same_bits<typename Call<T>::Wide>(a.mask, b.mask))) << "mask";
  EXPECT_TRUE(same_bits<double>(a.indexed, b.indexed)) << "indexed";
  const auto weights = attention_weights<T>(one.q, one.k, one.options),
             same = attention_weights<T>(other.q, other.k, other.options);
  EXPECT_TRUE(same_bits<T>(weights, same)) << "weights";
  const auto statistics = attention_statistics<T>(one.q, one.k, one.options),
             likewise = attention_statistics<T>(other.q, other.k, other.options);
  EXPECT_TRUE(same_bits<float>(statistics.entropy, likewise.entropy)) << "entropy";
  EXPECT_TRUE(same_bits<float>(statistics.mass, likewise.mass)) << "mass";
}

// Ids that say what places say.
template <class T>
void name_places(Call<T>& call) {
  const std::int64_t offset =
      call.how == Hiding::window ? call.k.size(2) - call.q.size(2) : std::int64_t{0};
  const auto begin = [&](std::int64_t at) {
    return call.how == Hiding::segments && at >= call.segments[1] ? call.segments[1]
                                                                  : std::int64_t{0};
  };
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t i = 0; i < call.q.size(2); ++i) call.query_ids(b, i) = i - begin(i) + offset;
    for (std::int64_t j = 0; j < call.k.size(2); ++j) call.key_ids(b, j) = j - begin(j);
  }
}

TYPED_TEST(PositionIds, ThatNamePlacesTurnToTheSameBits) {
  using T = TypeParam;
  this->for_each_call([&](Call<T>& named) {
    name_places(named);
    // Generators are asked by the same numbers; distances go another way.
    named.options.bias = nullptr;
    NumpyRandom random(9);
    Call<T> placed(named.how, named.q.size(2), named.k.size(2), random);
    placed.options = named.options;
    placed.options.query_positions = {};
    placed.options.key_positions = {};
    if (placed.how == Hiding::lengths) placed.options.causal = Causal::none;
    const auto run = [](Call<T>& call) {
      attention<T>(call.q, call.k, call.v, call.out, call.options);
      Tensor<T> dq(call.q.shape()), dk(call.k.shape()), dv(call.v.shape());
      Tensor<double> indexed(Shape{PositionStripes::kSize});
      attention_backward<T>(call.q, call.k, call.v, call.out, call.dout,
                            AttentionGradients<T>{.q = dq, .k = dk, .v = dv, .terms = {indexed}},
                            call.options);
      return std::tuple(std::move(dq), std::move(dk), std::move(dv), std::move(indexed),
                        attention_weights<T>(call.q, call.k, call.options));
    };
    const auto a = run(named), b = run(placed);
    EXPECT_TRUE(same_bits<T>(named.out, placed.out));
    EXPECT_TRUE(same_bits<T>(std::get<0>(a), std::get<0>(b)));
    EXPECT_TRUE(same_bits<T>(std::get<1>(a), std::get<1>(b)));
    EXPECT_TRUE(same_bits<T>(std::get<2>(a), std::get<2>(b)));
    EXPECT_TRUE(same_bits<double>(std::get<3>(a), std::get<3>(b)));
    EXPECT_TRUE(same_bits<T>(std::get<4>(a), std::get<4>(b)));
  });
}

TYPED_TEST(PositionIds, ThatNamePlacesGiveTheSameDistances) {
  using T = TypeParam;
  GradientErrors errors;
  this->for_each_call([&](Call<T>& named) {
    name_places(named);
    NumpyRandom random(9);
    Call<T> placed(named.how, named.q.size(2), named.k.size(2), random);
    placed.options.query_positions = {};
    placed.options.key_positions = {};
    placed.options.softcap = named.options.softcap;
    if (placed.how == Hiding::lengths) placed.options.causal = Causal::none;
    // The truth is one; the distances of places are summed in another way.
    this->compare(errors, named, {named.backward(), placed.backward()});
  });
  errors.expect_small();
}

TEST(PositionIdsOfALeftPaddedBatch, GiveWhatEachSequenceGivesAlone) {
  constexpr std::int64_t kLength = 90;
  const std::vector<std::int64_t> padding{0, 33};
  NumpyRandom random(3);
  const auto q = normal<float>(Shape{2, 4, kLength, 16}, random),
             k = normal<float>(Shape{2, 2, kLength, 16}, random),
             v = normal<float>(Shape{2, 2, kLength, 8}, random);
  const auto table = rotary<float>({.head_dim = 16}, kLength);
  const DistanceBias bias{.slopes = {0.5, 0.25, 0.125, 0.0625}};
  Ids ids(Shape{2, kLength});
  Tensor<bool> is_real(Shape{2, 1, 1, kLength});
  for (std::int64_t b = 0; b < 2; ++b) {
    const std::int64_t pad = padding[static_cast<std::size_t>(b)];
    for (std::int64_t i = 0; i < kLength; ++i) {
      ids(b, i) = std::max<std::int64_t>(0, i - pad);
      is_real(b, 0, 0, i) = i >= pad;
    }
  }
  Tensor<float> out(Shape{2, 4, kLength, 8});
  attention<float>(q, k, v, out,
                   {.causal = Causal::top_left,
                    .mask = BoolMask(is_real),
                    .query_positions = ids,
                    .key_positions = ids,
                    .bias = &bias,
                    .rotation = &table});
  for (std::int64_t b = 0; b < 2; ++b) {
    const std::int64_t pad = padding[static_cast<std::size_t>(b)], length = kLength - pad;
    const auto part = [&](const Tensor<float>& x) {
      return x.view().narrow(0, b, 1).narrow(2, pad, length);
    };
    Tensor<float> alone(Shape{1, 4, length, 8});
    attention<float>(part(q), part(k), part(v), alone,
                     {.causal = Causal::top_left, .bias = &bias, .rotation = &table});
    const auto padded = copy_of(part(out));
    for (std::int64_t n = 0; n < alone.count(); ++n) {
      // Scores below 2^5 with an error of some 2^-19 each; weights and outputs of size 4 follow.
      ASSERT_NEAR(padded.data()[n], alone.data()[n], 0x1p-15) << n;
    }
  }
}

TEST(PositionIdsInACache, GiveTheBitsOfTheWholeCall) {
  constexpr std::int64_t kLength = 140;
  NumpyRandom random(4);
  const auto q = normal<float>(Shape{2, 4, kLength, 16}, random),
             k = normal<float>(Shape{2, 2, kLength, 16}, random),
             v = normal<float>(Shape{2, 2, kLength, 8}, random);
  const Ids ids = ascending(2, kLength, random);
  const auto table = rotary<float>({.head_dim = 16}, 4 * kLength + 5);
  DistanceBias bias{normal<float>(Shape{1, 4 * kLength + 6}, random), 4 * kLength + 5};
  AttentionOptions<float> options{
      .query_positions = ids, .key_positions = ids, .bias = &bias, .rotation = &table};
  options.causal = Causal::top_left;
  Tensor<float> whole(Shape{2, 4, kLength, 8});
  attention<float>(q, k, v, whole, options);
  options.causal = {};
  KvCache<float> cache({2, 2, 16, 8});
  // A prompt, then tokens one and three at a time.
  for (std::int64_t at = 0, count = 0; at < kLength; at += count) {
    count = at == 0 ? 100 : at % 2 == 0 ? 1 : 3;
    const auto part = [&](const Tensor<float>& x) { return x.view().narrow(2, at, count); };
    cache.append(part(k), part(v));
    options.query_positions = ids.view().narrow(1, at, count);
    options.key_positions = ids.view().narrow(1, 0, at + count);
    Tensor<float> out(Shape{2, 4, count, 8});
    cache.attend(part(q), out, options);
    ASSERT_TRUE(same_bits<float>(out, part(whole))) << at;
  }
}

TEST(PositionIdsInAnyLayout, GiveTheSameBits) {
  NumpyRandom random(5);
  Call<float> plain(Hiding::window, 70, 130, random);
  NumpyRandom again(5);
  Call<float> strided_call(Hiding::window, 70, 130, again);
  const auto draw = [] { return 0; };
  const auto copied = [&](const Ids& ids) {
    auto copy = strided<std::int64_t>(ids.shape(), random, false, draw);
    each_index(ids.shape(), [&](const auto& i, std::int64_t) {
      copy.view.data()[i[0] * copy.view.stride(0) + i[1] * copy.view.stride(1)] = ids(i[0], i[1]);
    });
    return copy;
  };
  for (int n = 0; n < 8; ++n) {
    const auto queries = copied(plain.query_ids), keys = copied(plain.key_ids);
    strided_call.options.query_positions = queries.view;
    strided_call.options.key_positions = keys.view;
    expect_same_bits(strided_call, plain);
  }
  // One row of ids for the whole batch.
  for (std::int64_t i = 0; i < 70; ++i) plain.query_ids(1, i) = plain.query_ids(0, i);
  for (std::int64_t j = 0; j < 130; ++j) plain.key_ids(1, j) = plain.key_ids(0, j);
  strided_call.options.query_positions = plain.query_ids.view().narrow(0, 0, 1);
  strided_call.options.key_positions = plain.key_ids.view().narrow(0, 0, 1);
  expect_same_bits(strided_call, plain);
}

TEST(PositionIdsInAnyOrder, GiveEachPairItsDistance) {
  // Queries and keys in reverse, ids with them: the same pairs, the same weights.
  constexpr std::int64_t kLength = 20;
  NumpyRandom random(6);
  const auto q = normal<float>(Shape{1, 1, kLength, 4}, random),
             k = normal<float>(Shape{1, 1, kLength, 4}, random);
  const Ids ids = ascending(1, kLength, random);
  Ids reversed(ids.shape());
  for (std::int64_t i = 0; i < kLength; ++i) reversed(0, i) = ids(0, kLength - 1 - i);
  const DistanceBias bias{.slopes = {0.5}};
  const auto weights =
      attention_weights<float>(q, k, {.query_positions = ids, .key_positions = ids, .bias = &bias});
  const auto rotated = [](const Tensor<float>& x) {
    Tensor<float> y(x.shape());
    for (std::int64_t i = 0; i < kLength; ++i) {
      for (std::int64_t c = 0; c < 4; ++c) y(0, 0, i, c) = x(0, 0, kLength - 1 - i, c);
    }
    return y;
  };
  const auto same = attention_weights<float>(
      rotated(q), rotated(k),
      {.query_positions = reversed, .key_positions = reversed, .bias = &bias});
  for (std::int64_t i = 0; i < kLength; ++i) {
    for (std::int64_t j = 0; j < kLength; ++j) {
      // Sums of 20 terms in the other order.
      EXPECT_NEAR(same(0, 0, kLength - 1 - i, kLength - 1 - j), weights(0, 0, i, j), 1e-6);
    }
  }
}

TEST(PositionIdsOfAnySize, KeepSlopesFinite) {
  constexpr std::int64_t kMaxId = std::int64_t{1} << 53;
  NumpyRandom random(7);
  const auto q = normal<float>(Shape{1, 2, 3, 4}, random);
  Ids ids(Shape{1, 3});
  ids(0, 0) = -kMaxId;
  ids(0, 2) = kMaxId;
  const DistanceBias bias{.slopes = {1, 1e300}};
  const auto weights =
      attention_weights<float>(q, q, {.query_positions = ids, .key_positions = ids, .bias = &bias});
  for (std::int64_t h = 0; h < 2; ++h) {
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) EXPECT_EQ(weights(0, h, i, j), i == j ? 1 : 0);
    }
  }
}

TEST(PositionIdsGradients, DoNotDependOnTheNumberOfThreads) {
  for (const Hiding how : {Hiding::window, Hiding::lengths, Hiding::segments}) {
    const std::int64_t q_len = 290, k_len = how == Hiding::segments ? q_len : 310;
    NumpyRandom random(8);
    Call<float> one(how, q_len, k_len, random);
    one.options.threads = 1;
    for (const int threads : {2, 3, 7}) {
      SCOPED_TRACE(threads);
      NumpyRandom again(8);
      Call<float> many(how, q_len, k_len, again);
      many.options.threads = threads;
      expect_same_bits(many, one);
    }
  }
}

TEST(PositionIdsGradients, AreMadeAgainPlainlyWhereInfinitiesComeUp) {
  NumpyRandom random(9);
  Call<float> call(Hiding::lengths, 40, 50, random);
  for (std::int64_t i = 0; i < 40; ++i) call.mask(i, 7) = -1000;
  const auto before = call.backward();
  call.v(1, 0, 7, 2) = std::numeric_limits<float>::infinity();
  const auto after = call.backward();
  const auto near = [](const auto& a, const auto& b, double tolerance, const char* what) {
    for (std::int64_t n = 0; n < a.count(); ++n) {
      ASSERT_NEAR(a.data()[n], b.data()[n], tolerance) << what << n;
    }
  };
  // Another path, far below any leak; slopes are sums of up to 250 times as much.
  near(after.bias, before.bias, 1e-3, "bias ");
  near(after.slopes, before.slopes, 0.1, "slope ");
  near(after.indexed, before.indexed, 1e-3, "indexed ");
  near(after.mask, before.mask, 1e-3, "mask ");
}

TEST(PositionIdsChecks, NameWhatDoesNotFit) {
  NumpyRandom random(10);
  Call<float> call(Hiding::window, 5, 7, random);
  const auto message = [&] {
    return error_of([&] { attention<float>(call.q, call.k, call.v, call.out, call.options); });
  };
  EXPECT_EQ(message(), "no error");
  call.options.key_positions = {};
  EXPECT_EQ(message(), "[attention.key_positions] must be given with query_positions");
  call.options.key_positions = call.key_ids;
  call.options.query_positions = {};
  EXPECT_EQ(message(), "[attention.query_positions] must be given with key_positions");
  call.options.query_positions = call.key_ids;
  EXPECT_EQ(message(), "[attention.query_positions] must be [2 or 1, 5], got [2, 7]");
  call.options.query_positions = call.query_ids;
  call.key_ids(1, 6) = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(message(),
            "[attention.key_positions] must be within -2^53 .. 2^53, got 9007199254740993");
  name_places(call);
  call.key_ids(1, 6) = 400;
  call.options.bias = nullptr;
  EXPECT_EQ(message(),
            "[attention.rotation] must have a row for each of the positions 0 .. 400, got 33 rows "
            "from position 0");
  call.options.rotation = nullptr;
  EXPECT_EQ(message(), "no error");
  call.options.bias = &call.bias;
  EXPECT_EQ(message(),
            "[attention.bias] must hold the distances -3 .. 394, got [4, 67] with origin 33");
  // What causal hides may be any distance away.
  call.key_ids(1, 6) = 6;
  call.query_ids(0, 0) = -400;
  call.options.window = {0, -1};
  EXPECT_EQ(message(),
            "[attention.bias] must hold the distances 0 .. 402, got [4, 67] with origin 33");
  Tensor<bool> none(Shape{7});
  call.options.mask = BoolMask(none);  // masks are not looked at
  EXPECT_EQ(message(),
            "[attention.bias] must hold the distances 0 .. 402, got [4, 67] with origin 33");
}

TEST(PositionIdsChecks, NeedNoAlignmentButForWindows) {
  NumpyRandom random(11);
  Call<float> call(Hiding::lengths, 5, 7, random);
  EXPECT_NO_THROW(attention<float>(call.q, call.k, call.v, call.out, call.options));
  call.options.window.left = 2;
  EXPECT_THROW(attention<float>(call.q, call.k, call.v, call.out, call.options), Error);
  call.options.window = {};
  call.options.query_positions = {};
  call.options.key_positions = {};
  EXPECT_THROW(attention<float>(call.q, call.k, call.v, call.out, call.options), Error);
}

TEST(PositionIdsPlan, SaysThatDistancesAreMadeForEveryPair) {
  NumpyRandom random(12);
  Call<float> call(Hiding::lengths, 15, 17, random);
  const auto with = attention_plan<float>(call.q, call.k, call.v, call.options).explain();
  EXPECT_NE(with.find("distances between position ids"), std::string::npos) << with;
  call.options.bias = nullptr;
  const auto without = attention_plan<float>(call.q, call.k, call.v, call.options).explain();
  EXPECT_EQ(without.find("position ids"), std::string::npos) << without;
}

}  // namespace
}  // namespace sextant::position_ids_test
