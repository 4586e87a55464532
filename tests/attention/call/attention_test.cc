// The operator against the float64 oracle: random shapes, layouts and options, every stage.
#include "sextant/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attention/strided.h"
#include "core/arrays/converted.h"
#include "reference/attention.h"

namespace sextant::attention_test {
namespace {

constexpr double kEps = 0x1p-53;  // half a unit in the last place of 1, float64

// A call with everything that its options borrow.
template <class T>
struct RandomCall {
  Strided<T> q, k, v;
  Strided<T> float_mask;
  Strided<bool> bool_mask;
  std::vector<std::int64_t> offsets, key_lengths;
  DistanceBias bias;
  AttentionOptions<T> options;
  reference::Attention expected;
};

// A shape that broadcasts to `scores`: some axes dropped at the front, some of size 1.
Shape broadcastable(const Shape& scores, NumpyRandom& random) {
  std::vector<std::int64_t> sizes;
  for (int axis = static_cast<int>(pick(random, 0, 3)); axis < 4; ++axis) {
    sizes.push_back(chance(random, 0.4) ? 1 : scores[axis]);
  }
  return Shape(sizes);
}

// The element of a dense mask that belongs to a pair, by the broadcasting rule.
template <class M>
M broadcast_at(const Tensor<M>& mask, std::array<std::int64_t, 4> pair) {
  std::int64_t n = 0;
  for (int axis = 0; axis < mask.rank(); ++axis) {
    const std::int64_t i = pair[static_cast<std::size_t>(4 - mask.rank() + axis)];
    n = n * mask.size(axis) + (mask.size(axis) == 1 ? 0 : i);
  }
  return mask.data()[n];
}

template <class T>
void random_call(RandomCall<T>& call, NumpyRandom& random) {
  const std::int64_t batch = pick(random, 1, 3), kv_heads = pick(random, 1, 3);
  const std::int64_t heads_q = kv_heads * pick(random, 1, 3);
  const std::int64_t q_len = pick(random, 0, 6), k_len = pick(random, 0, 7);
  const std::int64_t head_dim = pick(random, 1, 9), v_dim = pick(random, 0, 6);
  // Every third call has logits of thousands.
  const double magnitude = chance(random, 0.33) ? 40 : 1;
  const auto normal_value = [&] { return magnitude * random.normal(); };
  call.q = strided<T>(Shape{batch, heads_q, q_len, head_dim}, random, true, normal_value);
  call.k = strided<T>(Shape{batch, kv_heads, k_len, head_dim}, random, true, normal_value);
  call.v = strided<T>(Shape{batch, kv_heads, k_len, v_dim}, random, true, normal_value);

  auto& options = call.options;
  if (chance(random, 0.3)) options.softcap = 0.5 + 20 * random.uniform();
  if (chance(random, 0.5)) options.scale = chance(random, 0.2) ? 0 : random.normal();
  if (chance(random, 0.4)) options.window.left = pick(random, 0, 4);
  if (chance(random, 0.4)) options.window.right = pick(random, 0, 4);
  if (chance(random, 0.8)) options.causal = static_cast<Causal>(pick(random, 0, 3));
  const bool by_offsets =
      options.causal == Causal::at_offsets ||
      (options.causal.value_or(Causal::none) == Causal::none && chance(random, 0.3));
  if (by_offsets) {
    for (std::int64_t b = 0; b < batch; ++b) call.offsets.push_back(pick(random, -4, 8));
    options.query_offsets = call.offsets;
  } else if (!options.causal && q_len != k_len) {
    options.causal = Causal::none;
  }
  if (chance(random, 0.4)) {
    for (std::int64_t b = 0; b < batch; ++b) call.key_lengths.push_back(pick(random, 0, k_len));
    options.key_lengths = call.key_lengths;
    if (!by_offsets && chance(random, 0.4)) {
      options.causal = Causal::at_lengths;
      for (const std::int64_t length : call.key_lengths) call.offsets.push_back(length - q_len);
    }
  }

  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Shape scores{batch, heads_q, q_len, k_len};
  const std::int64_t mask_kind = pick(random, 0, 2);
  const Shape mask_shape = broadcastable(scores, random);
  if (mask_kind == 1) {
    call.bool_mask = strided<bool>(mask_shape, random, true, [&] { return chance(random, 0.7); });
    options.mask = call.bool_mask.view;
  } else if (mask_kind == 2) {
    call.float_mask = strided<T>(mask_shape, random, true, [&] {
      return chance(random, 0.25) ? -kInfinity : 3 * random.normal();
    });
    options.mask = call.float_mask.view;
  }
  if (chance(random, 0.4)) {
    // Distances -20 .. 20 are more than any of these shapes has.
    call.bias.values = Tensor<float>(Shape{chance(random, 0.5) ? 1 : heads_q, 41});
    call.bias.origin = 20;
    for (float& value : call.bias.values.span()) {
      value = static_cast<float>(chance(random, 0.1) ? -kInfinity : random.normal());
    }
    options.bias = &call.bias;
  }

  call.expected.q = converted<double>(call.q.dense);
  call.expected.k = converted<double>(call.k.dense);
  call.expected.v = converted<double>(call.v.dense);
  call.expected.softcap = options.softcap;
  call.expected.scale =
      options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(head_dim));
  call.expected.added = [&call, mask_kind](auto b, auto h, auto i, auto j) -> double {
    double sum = 0;
    if (mask_kind == 2)
      sum += static_cast<double>(broadcast_at(call.float_mask.dense, {b, h, i, j}));
    if (call.options.bias != nullptr) {
      std::int64_t own = i;
      if (!call.offsets.empty()) own = i + call.offsets[static_cast<std::size_t>(b)];
      if (call.options.causal == Causal::bottom_right)
        own = i + call.k.dense.size(2) - call.q.dense.size(2);
      const std::int64_t row = call.bias.values.size(0) == 1 ? 0 : h;
      sum += static_cast<double>(call.bias.values(row, j - own + call.bias.origin));
    }
    return sum;
  };
  call.expected.sees = [&call, mask_kind](auto b, auto h, auto i, auto j) {
    std::int64_t own = i;
    bool causal = false;
    if (call.options.causal == Causal::top_left) causal = true;
    if (call.options.causal == Causal::bottom_right) {
      causal = true;
      own = i + call.k.dense.size(2) - call.q.dense.size(2);
    }
    if (call.options.causal == Causal::at_offsets) causal = true;
    if (call.options.causal == Causal::at_lengths) causal = true;
    if (!call.offsets.empty()) own = i + call.offsets[static_cast<std::size_t>(b)];
    if (causal && j > own) return false;
    if (call.options.window.left != -1 && j < own - call.options.window.left) return false;
    if (call.options.window.right != -1 && j > own + call.options.window.right) return false;
    if (!call.key_lengths.empty() && j >= call.key_lengths[static_cast<std::size_t>(b)])
      return false;
    if (mask_kind == 1 && !broadcast_at(call.bool_mask.dense, {b, h, i, j})) return false;
    return true;
  };
}

template <class T>
void expect_near(const Tensor<T>& got, const Tensor<double>& expected, double tolerance,
                 const char* what) {
  ASSERT_EQ(got.shape(), expected.shape()) << what;
  // float32 results are rounded once, also when they are subnormal.
  const double rounding = std::is_same_v<T, float> ? 0x1p-24 : 0;
  for (std::int64_t n = 0; n < got.count(); ++n) {
    const double want = expected.data()[n], have = static_cast<double>(got.data()[n]);
    if (std::isinf(want)) {
      ASSERT_EQ(have, want) << what << " element " << n;
    } else {
      ASSERT_LE(std::abs(have - want), tolerance + rounding * std::abs(want) + rounding * 0x1p-125)
          << what << " element " << n << ": " << have << " for " << want;
    }
  }
}

template <class T>
class AttentionOracle : public ::testing::Test {};
using Elements = ::testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionOracle, Elements);

TYPED_TEST(AttentionOracle, AgreesOnRandomShapesLayoutsAndOptionsAtEveryStage) {
  using T = TypeParam;
  for (std::uint32_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    NumpyRandom random(seed);
    RandomCall<T> call;
    random_call(call, random);
    const auto expected = reference::attend(call.expected);
    const auto out = strided<T>(expected.output.shape(), random, false, [] { return 7; });
    attention(call.q.view, call.k.view, call.v.view, out.view, call.options);

    // A score of head_dim products, scaled, capped and biased is off by at most (head_dim + 10) eps
    // times the sum of magnitudes, here and in the oracle; the softmax turns that twice (numerator
    // and sum) into a relative error and adds a rounding per key.
    const double head_dim = static_cast<double>(call.q.view.size(3));
    const double keys = static_cast<double>(call.k.view.size(2));
    const double score_error = 2 * (head_dim + 10) * kEps * expected.largest_score;
    const double weight_error = 2 * score_error + 4 * (keys + 8) * kEps;
    // The fast path does the same in float32; its 2^x is off by at most four units in 2^-24.
    const double coarser = std::is_same_v<T, float> ? 0x1p-24 / kEps : 1;
    double largest_value = 0;
    for (const double value : call.expected.v.span())
      largest_value = std::max(largest_value, std::abs(value));

    ASSERT_NO_FATAL_FAILURE(
        expect_near(copy_of(out.view), expected.output,
                    coarser * weight_error * largest_value * std::max(1.0, keys), "output"));
    const auto stage = [&](Stage which) {
      return attention_weights<T>(call.q.view, call.k.view, call.options, {.stage = which});
    };
    ASSERT_NO_FATAL_FAILURE(
        expect_near(stage(Stage::scores), expected.scores, coarser * score_error, "scores"));
    ASSERT_NO_FATAL_FAILURE(
        expect_near(stage(Stage::capped), expected.capped, coarser * score_error, "capped"));
    ASSERT_NO_FATAL_FAILURE(
        expect_near(stage(Stage::biased), expected.biased, coarser * score_error, "biased"));
    ASSERT_NO_FATAL_FAILURE(expect_near(stage(Stage::probabilities), expected.probabilities,
                                        coarser * weight_error, "probabilities"));
  }
}

TYPED_TEST(AttentionOracle, WritesNothingBetweenTheElementsOfTheOutput) {
  using T = TypeParam;
  NumpyRandom random(3);
  const auto q = normal<T>(Shape{1, 2, 3, 4}, random), k = normal<T>(Shape{1, 2, 5, 4}, random);
  Tensor<T> buffer(Shape{1, 2, 3, 8});
  for (T& element : buffer.span()) element = 7;
  // Every second channel, so that channels 1, 3, 5 and 7 of the buffer belong to nobody.
  const std::array<std::int64_t, 4> strides{48, 24, 8, 2};
  attention<T>(q, k, k, View<T>(buffer.data(), Shape{1, 2, 3, 4}, strides));
  for (std::int64_t n = 1; n < buffer.count(); n += 2) EXPECT_EQ(buffer.data()[n], 7);
}

TEST(AttentionWeights, ChosenHeadsAndRowsAreThoseOfTheWholeInTheOrderGiven) {
  NumpyRandom random(5);
  const auto q = normal<float>(Shape{2, 4, 6, 3}, random),
             k = normal<float>(Shape{2, 2, 7, 3}, random);
  for (const Stage stage : {Stage::scores, Stage::capped, Stage::biased, Stage::probabilities}) {
    const AttentionOptions<float> options{.causal = Causal::bottom_right, .softcap = 2};
    const auto all = attention_weights(q, k, options, {.stage = stage});
    const auto some =
        attention_weights(q, k, options, {.heads = {3, 0, 3}, .rows = {5, 1}, .stage = stage});
    ASSERT_EQ(some.shape(), (Shape{2, 3, 2, 7}));
    const std::int64_t heads[] = {3, 0, 3}, rows[] = {5, 1};
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t h = 0; h < 3; ++h)
        for (std::int64_t i = 0; i < 2; ++i)
          for (std::int64_t j = 0; j < 7; ++j)
            EXPECT_EQ(some(b, h, i, j), all(b, heads[h], rows[i], j));
  }
}

TEST(AttentionWeights, TimesTheValuesAreTheOutput) {
  NumpyRandom random(6);
  const auto q = normal<double>(Shape{1, 1, 4, 3}, random),
             k = normal<double>(Shape{1, 1, 4, 3}, random);
  const auto v = normal<double>(Shape{1, 1, 4, 2}, random);
  Tensor<double> out(Shape{1, 1, 4, 2});
  attention(q, k, v, out, {.causal = Causal::top_left});
  const auto weights = attention_weights(q, k, {.causal = Causal::top_left});
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t c = 0; c < 2; ++c) {
      double sum = 0;
      for (std::int64_t j = 0; j <= i; ++j) sum += weights(0, 0, i, j) * v(0, 0, j, c);
      EXPECT_EQ(out(0, 0, i, c), sum);  // the same float64 operations in the same order
    }
}

TEST(Attention, NothingIsNotAnError) {
  Tensor<float> q(Shape{1, 2, 0, 4}), k(Shape{1, 2, 3, 4}), none(Shape{1, 2, 0, 4});
  EXPECT_NO_THROW(attention(q, k, k, none));
  EXPECT_EQ(attention_weights(q, k).shape(), (Shape{1, 2, 0, 3}));
  // No keys: every row is fully masked.
  Tensor<float> no_keys(Shape{1, 2, 0, 4}), out(Shape{1, 2, 3, 4});
  for (float& element : out.span()) element = 7;
  attention(k, no_keys, no_keys, out);
  for (const float element : out.span()) EXPECT_EQ(element, 0);
  // No sequences.
  Tensor<float> nobody(Shape{0, 2, 3, 4});
  EXPECT_NO_THROW(attention(nobody, nobody, nobody, nobody, {.causal = Causal::at_offsets}));
}

}  // namespace
}  // namespace sextant::attention_test
