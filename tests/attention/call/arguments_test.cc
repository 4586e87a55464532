// Every refusal of the operator, with its text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sextant/attention/attention.h"
#include "sextant/attention/plan.h"
#include "support/error_of.h"

namespace sextant {
namespace {

// Arguments that fit, to be broken one at a time.
class AttentionErrors : public ::testing::Test {
 protected:
  Tensor<float> q{Shape{2, 4, 3, 8}}, k{Shape{2, 2, 5, 8}}, v{Shape{2, 2, 5, 6}},
      out{Shape{2, 4, 3, 6}};
  AttentionOptions<float> options;

  std::string message(View<float> log_sum_exp = {}) {
    return error_of([&] { attention(q, k, v, out, options, log_sum_exp); });
  }

  std::string refusal_of(View<float> output) {
    return error_of([&] { attention(q, k, v, output); });
  }
};

TEST_F(AttentionErrors, NoneForArgumentsThatFit) { EXPECT_EQ(message(), "no error"); }

TEST_F(AttentionErrors, Shapes) {
  q = Tensor<float>(Shape{4, 3, 8});
  EXPECT_EQ(message(), "[attention.q] must be [batch, heads_q, q_len, head_dim], got [4, 3, 8]");
  q = Tensor<float>(Shape{2, 4, 3, 0});
  EXPECT_EQ(message(),
            "[attention.q] must have at least one head and one channel, got [2, 4, 3, 0]");
  q = Tensor<float>(Shape{2, 0, 3, 8});
  EXPECT_EQ(message(),
            "[attention.q] must have at least one head and one channel, got [2, 0, 3, 8]");
  q = Tensor<float>(Shape{2, 4, 3, 7});
  EXPECT_EQ(message(), "[attention.k] must be [2, 2, 5, 7], got [2, 2, 5, 8]");
  q = Tensor<float>(Shape{1, 4, 3, 8});
  EXPECT_EQ(message(), "[attention.k] must be [1, 2, 5, 8], got [2, 2, 5, 8]");
  q = Tensor<float>(Shape{2, 3, 3, 8});
  EXPECT_EQ(
      message(),
      "[attention.k] must have a number of heads that divides 3, the heads of q, got [2, 2, 5, 8]");
  q = Tensor<float>(Shape{2, 4, 3, 8});
  k = Tensor<float>(Shape{2, 0, 5, 8});
  EXPECT_EQ(
      message(),
      "[attention.k] must have a number of heads that divides 4, the heads of q, got [2, 0, 5, 8]");
  k = Tensor<float>(Shape{2, 5, 8});
  EXPECT_EQ(message(), "[attention.k] must be [batch, kv_heads, k_len, head_dim], got [2, 5, 8]");
}

TEST_F(AttentionErrors, ValuesAndOutput) {
  v = Tensor<float>(Shape{2, 2, 4, 6});
  EXPECT_EQ(message(), "[attention.v] must be [2, 2, 5, 6], got [2, 2, 4, 6]");
  v = Tensor<float>(Shape{5, 6});
  EXPECT_EQ(message(), "[attention.v] must be [batch, kv_heads, k_len, v_dim], got [5, 6]");
  v = Tensor<float>(Shape{2, 2, 5, 6});
  out = Tensor<float>(Shape{2, 4, 3, 8});
  EXPECT_EQ(message(), "[attention.out] must be [2, 4, 3, 6], got [2, 4, 3, 8]");
  out = Tensor<float>(Shape{3, 6});
  EXPECT_EQ(message(), "[attention.out] must be [batch, heads_q, q_len, v_dim], got [3, 6]");
}

TEST_F(AttentionErrors, NullPointers) {
  const View<const float> nowhere(nullptr, Shape{2, 4, 3, 8});
  EXPECT_THROW(attention(nowhere, k, v, out), Error);
  options.mask = BoolMask(nullptr, Shape{3, 5});
  EXPECT_EQ(message(), "[attention.mask] must point to [3, 5] elements, got a null pointer");
}

TEST_F(AttentionErrors, AnOutputThatIsAnInput) {
  v = Tensor<float>(Shape{2, 2, 5, 8});
  const auto refused = [&](View<const float> a, View<const float> b, View<const float> c,
                           View<float> to) { return error_of([&] { attention(a, b, c, to); }); };
  EXPECT_EQ(refused(q, k, v, q), "[attention.out] must not overlap q");
  // The last three rows of k's memory.
  const View<float> tail(q.data() + 96, Shape{1, 4, 3, 8});
  EXPECT_EQ(refused(q.view().narrow(0, 0, 1), q, v.view().narrow(0, 0, 1).narrow(2, 0, 3), tail),
            "[attention.k] must be [1, 4, 3, 8], got [2, 4, 3, 8]");
  const View<const float> shifted(q.data() + 8, Shape{1, 4, 3, 8});
  const View<float> first(q.data(), Shape{1, 4, 3, 8});
  EXPECT_EQ(refused(shifted, shifted, shifted, first), "[attention.out] must not overlap q");
  // Interleaved views of one allocation are fine: q, k, v and out side by side, as one projection
  // writes them.
  Tensor<float> joined(Shape{1, 3, 4, 8});
  const auto part = [&](std::int64_t n) { return joined.view().narrow(2, n, 1).transpose(1, 2); };
  EXPECT_EQ(refused(part(0), part(1), part(2), part(3)), "no error");
}

// A result that overlaps what is read would change it before it is read.
TEST_F(AttentionErrors, AnOutputThatMeetsAnyOtherArray) {
  Tensor<float> memory(Shape{2, 4, 8, 8});
  const auto rows = [&](std::int64_t first) { return memory.view().narrow(2, first, 3); };
  const auto refused = [&](View<const float> a, View<float> to, View<float> sums = {}) {
    return error_of([&] { attention(a, a, a, to, options, sums); });
  };
  EXPECT_EQ(refused(rows(0), rows(3)), "no error");
  EXPECT_EQ(refused(rows(0), rows(2)), "[attention.out] must not overlap q");
  const std::array<std::int64_t, 4> reversed{256, 64, -8, 1};
  EXPECT_EQ(refused(rows(0), View<float>(memory.data() + 16, Shape{2, 4, 3, 8}, reversed)),
            "[attention.out] must not overlap q");
  EXPECT_EQ(refused(rows(0), rows(3), rows(5).select(3, 7)),
            "[attention.log_sum_exp] must not overlap out");
  EXPECT_EQ(refused(rows(0), rows(3), rows(2).select(3, 7)),
            "[attention.log_sum_exp] must not overlap q");
  options.mask = FloatMask<float>(memory.view().narrow(2, 5, 1).narrow(3, 0, 3));
  EXPECT_EQ(refused(rows(0), rows(3)), "[attention.out] must not overlap mask");
  options.mask = {};
  DistanceBias bias{Tensor<float>(Shape{1, 192}), 100};
  options.bias = &bias;
  const std::array<std::int64_t, 4> dense{96, 24, 8, 1};
  EXPECT_EQ(refused(rows(0), View<float>(bias.values.data(), Shape{2, 4, 3, 8}, dense)),
            "[attention.out] must not overlap bias");
  options.bias = nullptr;
  Tensor<std::int64_t> ids(Shape{2, 48});
  options.query_positions = options.key_positions = ids.view().narrow(1, 40, 3);
  EXPECT_EQ(
      refused(rows(0), View<float>(reinterpret_cast<float*>(ids.data()), Shape{2, 4, 3, 8}, dense)),
      "[attention.out] must not overlap query_positions");
}

TEST_F(AttentionErrors, AnOutputWhoseElementsCoincide) {
  const std::array<std::int64_t, 4> strides{0, 18, 6, 1};
  const View<float> same(out.data(), Shape{2, 4, 3, 6}, strides);
  EXPECT_EQ(
      refusal_of(same),
      "[attention.out] must have a separate element for every result, got stride 0 at axis 0");
}

TEST_F(AttentionErrors, AnOutputWhoseRowsOverlap) {
  const std::array<std::int64_t, 4> strides{72, 18, 5, 1};
  EXPECT_EQ(refusal_of(View<float>(out.data(), Shape{2, 4, 3, 6}, strides)),
            "[attention.out] must have a separate element for every result, got stride 5 at "
            "axis 2");
}

TEST_F(AttentionErrors, NumbersThatAreNoEnumerators) {
  options.causal = static_cast<Causal>(9);
  EXPECT_EQ(message(), "[attention.causal] must be one of the named values, got 9");
  options.causal.reset();
  EXPECT_EQ(error_of([&] { attention_weights(q, k, options, {.stage = static_cast<Stage>(9)}); }),
            "[attention_weights.stage] must be one of the named values, got 9");
  EXPECT_EQ(name_of(static_cast<Causal>(9)), "unknown");
  EXPECT_EQ(name_of(static_cast<Stage>(-1)), "unknown");
}

TEST_F(AttentionErrors, Masks) {
  Tensor<bool> mask(Shape{3, 128});
  options.mask = mask;
  EXPECT_EQ(message(), "[attention.mask] must broadcast to [2, 4, 3, 5], got [3, 128]");
  Tensor<float> two_heads(Shape{2, 1, 1});
  options.mask = two_heads;
  EXPECT_EQ(message(), "[attention.mask] must broadcast to [2, 4, 3, 5], got [2, 1, 1]");
  Tensor<float> deep(Shape{1, 1, 1, 1, 1});
  options.mask = deep;
  EXPECT_EQ(message(), "[attention.mask] must broadcast to [2, 4, 3, 5], got [1, 1, 1, 1, 1]");
  Tensor<float> scalar(Shape{});
  options.mask = scalar;
  EXPECT_EQ(message(), "[attention.mask] must broadcast to [2, 4, 3, 5], got []");
}

TEST_F(AttentionErrors, KeyLengthsAndOffsets) {
  std::vector<std::int64_t> numbers{5};
  options.key_lengths = numbers;
  EXPECT_EQ(message(), "[attention.key_lengths] must have one entry per sequence, 2, got 1");
  numbers = {5, 6};
  options.key_lengths = numbers;
  EXPECT_EQ(message(), "[attention.key_lengths] must be in 0 .. 5, got 6");
  numbers = {-1, 0};
  options.key_lengths = numbers;
  EXPECT_EQ(message(), "[attention.key_lengths] must be in 0 .. 5, got -1");
  options.key_lengths = {};

  options.causal = Causal::at_offsets;
  EXPECT_EQ(message(), "[attention.query_offsets] must be given with causal at_offsets, got none");
  numbers = {2};
  options.query_offsets = numbers;
  EXPECT_EQ(message(), "[attention.query_offsets] must have one entry per sequence, 2, got 1");
  numbers = {2, std::numeric_limits<std::int64_t>::max()};
  options.query_offsets = numbers;
  EXPECT_EQ(message(),
            "[attention.query_offsets] must be in -1152921504606846976 .. 1152921504606846976, got "
            "9223372036854775807");
  numbers = {2, 2};
  options.causal = Causal::bottom_right;
  EXPECT_EQ(message(),
            "[attention.query_offsets] must be given with causal at_offsets or none, got causal "
            "bottom_right");
  options.causal = Causal::at_lengths;
  EXPECT_EQ(message(), "[attention.key_lengths] must be given with causal at_lengths, got none");
  options.key_lengths = numbers;
  EXPECT_EQ(message(),
            "[attention.query_offsets] must be given with causal at_offsets or none, got causal "
            "at_lengths");
}

TEST_F(AttentionErrors, AnAlignmentThatNobodyNamed) {
  options.window = {2, 0};
  EXPECT_EQ(message(),
            "[attention.causal] must be named, or query_offsets given, for a window, distance "
            "bias, slopes or rotation with q_len 3 and k_len 5");
  const std::vector<std::int64_t> offsets{2, 2};
  options.query_offsets = offsets;
  EXPECT_EQ(message(), "no error");
  options.query_offsets = {};
  options.causal = Causal::none;
  EXPECT_EQ(message(), "no error");
}

TEST_F(AttentionErrors, SlopesAndSinks) {
  const std::vector<double> few{0.5, 0.25}, bad{0.5, 0.25, std::nan(""), 1},
      hidden{-std::numeric_limits<double>::infinity(), 0, 0,
             std::numeric_limits<double>::infinity()};
  options.causal = Causal::none;
  DistanceBias bias{.slopes = few};
  options.bias = &bias;
  EXPECT_EQ(message(), "[attention.bias.slopes] must have one entry per head of q, 4, got 2");
  bias.slopes = bad;
  EXPECT_EQ(message(), "[attention.bias.slopes] must be finite, got nan");
  bias.slopes.clear();
  EXPECT_EQ(message(), "[attention.bias] must be [1 or 4, distances], got [0]");
  options.bias = nullptr;
  options.sinks = few;
  EXPECT_EQ(message(), "[attention.sinks] must have one entry per head of q, 4, got 2");
  options.sinks = hidden;
  EXPECT_EQ(message(), "[attention.sinks] must be within +-1e38 or -infinity, got inf");
}

TEST_F(AttentionErrors, Segments) {
  std::vector<std::int64_t> segments{0, 3, 5};
  options.segments = segments;
  EXPECT_EQ(message(),
            "[attention.segments] must be given with key_segments or q_len = k_len, got 3 and 5");
  q = Tensor<float>(Shape{2, 4, 5, 8});
  out = Tensor<float>(Shape{2, 4, 5, 6});
  EXPECT_EQ(message(), "no error");
  segments = {0, 3, 4};
  EXPECT_EQ(message(), "[attention.segments] must ascend from 0 to the length 5, got 0 .. 4");
  segments = {0, 6, 5};
  EXPECT_EQ(message(),
            "[attention.segments] must ascend from 0 to the length 5, got 0 .. 5, not ascending");
  segments = {0, 3, 5};
  const std::vector<std::int64_t> lengths{1, 2};
  options.key_lengths = lengths;
  EXPECT_EQ(message(),
            "[attention.segments] must not be combined with query_offsets or key_lengths");
}

TEST_F(AttentionErrors, Rotations) {
  RotationTable<float> table{Tensor<float>(Shape{4, 4}), Tensor<float>(Shape{4, 3})};
  options.causal = Causal::bottom_right;
  options.rotation = &table;
  EXPECT_EQ(message(),
            "[attention.rotation] must have cos and sin of one shape [positions, pairs] or "
            "[heads, positions, pairs], got [4, 4] "
            "and [4, 3]");
  table.sin = Tensor<float>(Shape{4, 4});
  EXPECT_EQ(
      message(),
      "[attention.rotation] must have a row for each of the positions 0 .. 4, got 4 rows from "
      "position 0");
  table.first_channel = 1;
  EXPECT_EQ(message(),
            "[attention.rotation] must rotate channels of the 8 a head has, got 8 from channel 1");
  table = {Tensor<float>(Shape{5, 4}), Tensor<float>(Shape{5, 4})};
  EXPECT_EQ(message(), "no error");
  // A sequence without keys still has queries to rotate.
  const std::vector<std::int64_t> offsets{0, -2}, lengths{5, 0};
  options.causal = Causal::at_offsets;
  options.query_offsets = offsets;
  options.key_lengths = lengths;
  EXPECT_EQ(
      message(),
      "[attention.rotation] must have a row for each of the positions -2 .. 4, got 5 rows from "
      "position 0");
}

TEST_F(AttentionErrors, LogSumExp) {
  Tensor<float> sums(Shape{2, 4, 4});
  EXPECT_EQ(message(sums), "[attention.log_sum_exp] must be [2, 4, 3], got [2, 4, 4]");
  constexpr std::int64_t kStrides[] = {12, 3, 0};  // rows over each other
  EXPECT_THAT(message(View<float>(sums.data(), Shape{2, 4, 3}, kStrides)),
              ::testing::StartsWith("[attention.log_sum_exp] "));
}

TEST_F(AttentionErrors, Windows) {
  options.causal = Causal::top_left;
  options.window = {-2, -1};
  EXPECT_EQ(message(), "[attention.window.left] must be >= 0, or -1 for open, got -2");
  options.window = {-1, std::numeric_limits<std::int64_t>::min()};
  EXPECT_EQ(message(),
            "[attention.window.right] must be >= 0, or -1 for open, got -9223372036854775808");
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  options.window = {kLargest, kLargest};
  EXPECT_EQ(message(), "no error");
}

TEST_F(AttentionErrors, DistanceBiases) {
  DistanceBias bias{Tensor<float>(Shape{3, 9}), 4};
  options.bias = &bias;
  options.causal = Causal::bottom_right;
  EXPECT_EQ(message(), "[attention.bias] must be [1 or 4, distances], got [3, 9]");
  // The last query, at key 4, sees distances -4 .. 0.
  bias = {Tensor<float>(Shape{4, 4}), 3};
  EXPECT_EQ(message(),
            "[attention.bias] must hold the distances -4 .. 0, got [4, 4] with origin 3");
  bias = {Tensor<float>(Shape{4, 5}), 4};
  EXPECT_EQ(message(), "no error");
  bias = {Tensor<float>(Shape{4, 5}), 5};
  EXPECT_EQ(message(),
            "[attention.bias] must hold the distances -4 .. 0, got [4, 5] with origin 5");
  bias = {Tensor<float>(Shape{4, 5}), std::numeric_limits<std::int64_t>::max()};
  EXPECT_EQ(message(),
            "[attention.bias] must hold the distances -4 .. 0, got [4, 5] with origin "
            "9223372036854775807");
  // A window needs less of the table; without causal the first query, at key 0, sees up to +4.
  bias = {Tensor<float>(Shape{1, 2}), 1};
  options.window = {1, -1};
  EXPECT_EQ(message(), "no error");
  options.causal = Causal::none;
  EXPECT_EQ(message(),
            "[attention.bias] must hold the distances -1 .. 4, got [1, 2] with origin 1");
  // Nothing visible, nothing needed.
  const std::vector<std::int64_t> nothing{0, 0};
  options.key_lengths = nothing;
  EXPECT_EQ(message(), "no error");
}

TEST_F(AttentionErrors, Numbers) {
  options.softcap = -1;
  EXPECT_EQ(message(), "[attention.softcap] must be 0 or 1e-30 .. 1e30, got -1");
  options.softcap = std::nan("");
  EXPECT_EQ(message(), "[attention.softcap] must be 0 or 1e-30 .. 1e30, got nan");
  options.softcap = std::numeric_limits<double>::infinity();
  EXPECT_EQ(message(), "[attention.softcap] must be 0 or 1e-30 .. 1e30, got inf");
  options.softcap = 0;
  options.scale = std::nan("");
  EXPECT_EQ(message(), "[attention.scale] must be within +-1e38, got nan");
  options.scale = 1e39;
  EXPECT_EQ(message(), "[attention.scale] must be within +-1e38, got 1e+39");
  options.scale = -0.5;
  EXPECT_EQ(message(), "no error");
  options.threads = -1;
  EXPECT_EQ(message(), "[attention.threads] must be in 0 .. 1024, got -1");
}

TEST_F(AttentionErrors, NameTheFunctionAndLeaveTheOutputAlone) {
  for (float& element : out.span()) element = 7;
  options.threads = -1;
  EXPECT_EQ(message(), "[attention.threads] must be in 0 .. 1024, got -1");
  for (const float element : out.span()) EXPECT_EQ(element, 7);
  const auto weights_message = [&](const WeightsOptions& chosen) {
    return error_of([&] { attention_weights(q, k, options, chosen); });
  };
  EXPECT_EQ(weights_message({}), "[attention_weights.threads] must be in 0 .. 1024, got -1");
  options.threads = 0;
  EXPECT_EQ(weights_message({.heads = {0, 4}}),
            "[attention_weights.heads] must be in 0 .. 3, got 4");
  EXPECT_EQ(weights_message({.rows = {-1}}), "[attention_weights.rows] must be in 0 .. 2, got -1");
}

}  // namespace
}  // namespace sextant
