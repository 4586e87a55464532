// Rows of q and k from one rotary layout to the other: the same scores, and back bit for bit.
#include "sextant/interop/convert_rotary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

template <class T>
Array array_of(const Shape& shape, const std::vector<T>& values) {
  Array array;
  array.dtype = dtype_of<T>;
  array.shape = shape;
  array.bytes = Tensor<std::byte>(Shape{static_cast<std::int64_t>(values.size() * sizeof(T))});
  if (!values.empty()) {
    std::memcpy(array.bytes.data(), values.data(), values.size() * sizeof(T));
  }
  return array;
}

Array random_array(const Shape& shape, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (double& value : values) value = normal(random);
  return array_of<double>(shape, values);
}

Array copy(const Array& array) {
  Array result{.dtype = array.dtype, .shape = array.shape, .bytes = array.bytes.clone()};
  return result;
}

bool same_bytes(const Array& a, const Array& b) {
  return a.bytes.shape() == b.bytes.shape() &&
         std::memcmp(a.bytes.data(), b.bytes.data(), static_cast<std::size_t>(a.bytes.count())) ==
             0;
}

void convert(Array& array, const RotaryRows& rows, RotaryLayout to) {
  to == RotaryLayout::half_split ? to_half_split(array, rows) : to_interleaved(array, rows);
}
RotaryLayout other(RotaryLayout layout) {
  return layout == RotaryLayout::half_split ? RotaryLayout::interleaved : RotaryLayout::half_split;
}

struct Model {
  Array weight_q, weight_k, bias_q, bias_k, norm_q, norm_k;
};

// [heads, length, head_dim]: x times the weights plus the bias, each head divided by its root mean
// square and multiplied by the norm's weight, then turned.
Tensor<double> project(const Array& x, const Array& weight, const Array& bias, const Array& norm,
                       const RotaryRows& rows, RotaryLayout layout) {
  const auto xs = x.as<double>(), w = weight.as<double>(), b = bias.as<double>(),
             g = norm.as<double>();
  const std::int64_t length = xs.size(0), heads = w.size(0) / rows.head_dim;
  Tensor<double> out({1, heads, length, rows.head_dim});
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t i = 0; i < length; ++i) {
      for (std::int64_t c = 0; c < rows.head_dim; ++c) {
        const std::int64_t row = h * rows.head_dim + c;
        double sum = b(row);
        for (std::int64_t n = 0; n < xs.size(1); ++n) sum += xs(i, n) * w(row, n);
        // The norm's divisor is the same for all channels of a head and in both layouts, but would
        // be summed in another order; what is tested here is the weight, so it is left out.
        out(0, h, i, c) = sum * g(c);
      }
    }
  }
  Rotary options;
  options.head_dim = rows.head_dim;
  options.rotary_dim = rows.rotary_dim;
  options.span = rows.span;
  options.layout = layout;
  const std::vector<std::int64_t> positions = {5, 0, 1000};
  const auto table = rotary<double>(options, std::span(positions));
  rotate<double, double>(out.view(), out.view(), table);
  return out;
}

void expect_same_scores(const RotaryRows& rows, std::int64_t heads, std::int64_t kv_heads,
                        RotaryLayout from) {
  const std::int64_t d = rows.head_dim, in = 7;
  const Array x = random_array({3, in}, 1);
  Model model{random_array({heads * d, in}, 2),
              random_array({kv_heads * d, in}, 3),
              random_array({heads * d}, 4),
              random_array({kv_heads * d}, 5),
              random_array({d}, 6),
              random_array({d}, 7)};
  const auto q1 = project(x, model.weight_q, model.bias_q, model.norm_q, rows, from);
  const auto k1 = project(x, model.weight_k, model.bias_k, model.norm_k, rows, from);
  for (Array* each : {&model.weight_q, &model.weight_k, &model.bias_q, &model.bias_k, &model.norm_q,
                      &model.norm_k}) {
    const Array before = copy(*each);
    convert(*each, rows, other(from));
    EXPECT_FALSE(same_bytes(*each, before));
    Array back = copy(*each);
    convert(back, rows, from);
    EXPECT_TRUE(same_bytes(back, before));
  }
  const auto q2 = project(x, model.weight_q, model.bias_q, model.norm_q, rows, other(from));
  const auto k2 = project(x, model.weight_k, model.bias_k, model.norm_k, rows, other(from));
  for (std::int64_t h = 0; h < heads; ++h) {
    const std::int64_t g = h / (heads / kv_heads);
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) {
        double one = 0, two = 0, size = 0;
        for (std::int64_t c = 0; c < d; ++c) {
          one += q1(0, h, i, c) * k1(0, g, j, c);
          two += q2(0, h, i, c) * k2(0, g, j, c);
          size += std::abs(q1(0, h, i, c) * k1(0, g, j, c));
        }
        // Channels and their products are the same numbers in another order. Each sum of d of them
        // is within (d - 1) u of the true one relative to the sum of sizes, u = 2^-53, and each
        // product within u of its own: 2 d u between the two, with 1% for terms of higher order.
        EXPECT_LE(std::abs(one - two), 2.02 * static_cast<double>(d) * 0x1p-53 * size);
      }
    }
  }
}

TEST(ConvertRotary, KeepsScoresWithWholeHeads) {
  for (const auto from : {RotaryLayout::half_split, RotaryLayout::interleaved}) {
    expect_same_scores({8, 0, RotarySpan::first}, 3, 3, from);
  }
}

TEST(ConvertRotary, KeepsScoresWithGroupedHeads) {
  for (const auto from : {RotaryLayout::half_split, RotaryLayout::interleaved}) {
    expect_same_scores({6, 6, RotarySpan::first}, 4, 2, from);
    expect_same_scores({6, 6, RotarySpan::first}, 4, 1, from);
  }
}

TEST(ConvertRotary, KeepsScoresWithPartsOfHeads) {
  for (const auto from : {RotaryLayout::half_split, RotaryLayout::interleaved}) {
    expect_same_scores({10, 6, RotarySpan::first}, 2, 2, from);
    expect_same_scores({10, 6, RotarySpan::last}, 2, 1, from);
    expect_same_scores({9, 4, RotarySpan::last}, 2, 1, from);
  }
}

TEST(ConvertRotary, KeepsNoScoreWhenOneSideIsForgotten) {
  // The proof above has teeth: with q alone permuted the scores differ.
  const RotaryRows rows{8, 0, RotarySpan::first};
  const Array x = random_array({3, 7}, 1), k = random_array({8, 7}, 3);
  Array q = random_array({8, 7}, 2);
  const Array none = array_of<double>({8}, std::vector<double>(8, 0.0)),
              ones = array_of<double>({8}, std::vector<double>(8, 1.0));
  const auto keys = project(x, k, none, ones, rows, RotaryLayout::half_split);
  const auto score = [&](const Array& weights, RotaryLayout layout) {
    const auto queries = project(x, weights, none, ones, rows, layout);
    double sum = 0;
    for (int c = 0; c < 8; ++c) sum += queries(0, 0, 0, c) * keys(0, 0, 2, c);
    return sum;
  };
  const double before = score(q, RotaryLayout::half_split);
  to_interleaved(q, rows);
  EXPECT_GT(std::abs(score(q, RotaryLayout::interleaved) - before), 0.01);
}

TEST(ConvertRotary, PermutesAsThePapersSay) {
  EXPECT_THAT(rotary_permutation({8}, RotaryLayout::half_split),
              ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
  EXPECT_THAT(rotary_permutation({8}, RotaryLayout::interleaved),
              ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(rotary_permutation({7, 4, RotarySpan::first}, RotaryLayout::half_split),
              ElementsAre(0, 2, 1, 3, 4, 5, 6));
  EXPECT_THAT(rotary_permutation({7, 4, RotarySpan::last}, RotaryLayout::interleaved),
              ElementsAre(0, 1, 2, 3, 5, 4, 6));
}

TEST(ConvertRotary, TakesAnyElementTypeAndShape) {
  // Two heads of 4 channels; bits that are no number stay what they are.
  std::vector<std::uint16_t> bits = {0x7fff, 1, 2, 3, 4, 5, 6, 0xffff};
  Array half = array_of<std::uint16_t>({8}, bits);
  half.dtype = DType::bfloat16;
  to_half_split(half, {4});
  half.dtype = DType::uint16;
  EXPECT_THAT(std::vector<std::uint16_t>(half.as<std::uint16_t>().data(),
                                         half.as<std::uint16_t>().data() + 8),
              ElementsAre(0x7fff, 2, 1, 3, 4, 6, 5, 0xffff));
  Array empty = array_of<float>({8, 0}, {});
  EXPECT_NO_THROW(to_half_split(empty, {4}));
  Array none = array_of<float>({0, 3}, {});
  EXPECT_NO_THROW(to_half_split(none, {4}));
}

TEST(ConvertRotary, TouchesOnlyTheRowsAskedFor) {
  Array fused = array_of<std::int32_t>({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  to_half_split(fused, {4}, 1, 5);
  const auto values = fused.as<std::int32_t>();
  EXPECT_THAT(std::vector<int>(values.data(), values.data() + 10),
              ElementsAre(0, 1, 3, 2, 4, 5, 6, 7, 8, 9));
}

TEST(ConvertRotary, RefusesWhatDoesNotFit) {
  Array weights = array_of<float>({6, 1}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT([&] { to_half_split(weights, {4}); },
              ThrowsMessage<Error>("[convert_rotary.weights] must have a multiple of head_dim, 4, "
                                   "as rows, got 6"));
  EXPECT_THAT([&] { to_half_split(weights, {1}); },
              ThrowsMessage<Error>("[convert_rotary.head_dim] must be in 2 .. 2^30, got 1"));
  EXPECT_THAT([&] { to_half_split(weights, {3}); },
              ThrowsMessage<Error>("[convert_rotary.rotary_dim] must be even and at most head_dim, "
                                   "3, got 3"));
  for (const std::int64_t bad : {8, -2, 1}) {
    EXPECT_THROW(to_interleaved(weights, {6, bad}), Error) << bad;
  }
  EXPECT_THAT([&] { to_half_split(weights, {2}, 4, 8); },
              ThrowsMessage<Error>("[convert_rotary.rows] must be within 0 .. 6, got 4 .. 8"));
  EXPECT_THROW(to_half_split(weights, {2}, std::numeric_limits<std::int64_t>::min(), 2), Error);
  Array number = array_of<float>({}, {1});
  EXPECT_THAT([&] { to_half_split(number, {4}); },
              ThrowsMessage<Error>("[convert_rotary.weights] must have rows, got a single number"));
  weights.shape = Shape{8, 1};
  EXPECT_THAT([&] { to_half_split(weights, {4}); },
              ThrowsMessage<Error>("[convert_rotary.weights] must hold the bytes of its shape, "
                                   "[8, 1], got 24"));
}

}  // namespace
}  // namespace sextant
