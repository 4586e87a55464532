// Products of factors rounded to bfloat16: the formula with rounded factors, the promises of bits
// and of hidden pairs, and that nothing else is rounded.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "kernels/bf16/bf16_products.h"
#include "reference/attention.h"
#include "sextant/attention/attention.h"
#include "sextant/attention/plan.h"
#include "sextant/core/names.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant::matmul_precision_test {
namespace {

constexpr double kLog2E = 1.4426950408889634;

double rounded(double x) { return static_cast<double>(bfloat16(x)); }

template <class T>
Tensor<T> normal(const Shape& shape, std::uint32_t seed, double size = 1) {
  NumpyRandom random(seed);
  Tensor<T> x(shape);
  for (T& value : x.span()) value = static_cast<T>(static_cast<float>(size * random.normal()));
  return x;
}

template <class T>
AttentionOptions<T> rounding() {
  AttentionOptions<T> options;
  options.matmul_precision = MatmulPrecision::bfloat16;
  return options;
}

class MatmulPrecisionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kernels::bf16_products() == nullptr) GTEST_SKIP() << "the processor has no such products";
  }
};

struct Sizes {
  std::int64_t queries, keys, head_dim, v_dim;
};

// The formula with the factors that the kernel has: q times the scale in units of log2, k and v,
// rounded. What is left are the weights, which are off by 2^-8 of themselves, and float32.
template <class T>
void compare(const Sizes& n, bool causal, double softcap) {
  SCOPED_TRACE(std::to_string(n.queries) + " x " + std::to_string(n.keys) + ", " +
               std::to_string(n.head_dim) + ", " + std::to_string(n.v_dim));
  const auto q = normal<T>(Shape{2, 4, n.queries, n.head_dim}, 1);
  const auto k = normal<T>(Shape{2, 2, n.keys, n.head_dim}, 2);
  const auto v = normal<T>(Shape{2, 2, n.keys, n.v_dim}, 3);
  auto options = rounding<T>();
  options.causal = causal ? Causal::bottom_right : Causal::none;
  options.softcap = softcap;
  Tensor<T> out(Shape{2, 4, n.queries, n.v_dim});
  Tensor<float> logs(Shape{2, 4, n.queries});
  attention(q, k, v, out, options, logs);
  ASSERT_NE(attention_plan<T>(q, k, v, options).arithmetic, "float32");

  const double scale = 1 / std::sqrt(static_cast<double>(n.head_dim));
  const float unit = static_cast<float>(scale * kLog2E);
  const auto factors = [](const Tensor<T>& x, float times) {
    Tensor<double> result(x.shape());
    for (std::int64_t i = 0; i < x.count(); ++i) {
      result.data()[i] = rounded(static_cast<double>(static_cast<float>(x.data()[i]) * times));
    }
    return result;
  };
  const auto truth = reference::attend(
      {.q = factors(q, unit),
       .k = factors(k, 1),
       .v = factors(v, 1),
       .sees = [&](auto, auto, auto i, auto j) { return !causal || j <= i + n.keys - n.queries; },
       .added = {},
       .scale = 1 / kLog2E,
       .softcap = softcap});
  const double stored = std::is_same_v<T, bfloat16> ? 0x1p-8 : 0;
  for (std::int64_t row = 0; row < out.count() / std::max<std::int64_t>(n.v_dim, 1); ++row) {
    const std::int64_t key_head = row / n.queries / 2;  // of all sequences
    const double* weights = truth.probabilities.data() + row * n.keys;
    for (std::int64_t c = 0; c < n.v_dim; ++c) {
      double size = 0;
      for (std::int64_t j = 0; j < n.keys; ++j) {
        size += weights[j] * std::abs(rounded(static_cast<double>(static_cast<float>(
                                 v.data()[(key_head * n.keys + j) * n.v_dim + c]))));
      }
      const double want = truth.output.data()[row * n.v_dim + c];
      ASSERT_NEAR(static_cast<double>(static_cast<float>(out.data()[row * n.v_dim + c])), want,
                  (0x1p-8 + 1e-5) * size + stored * std::abs(want))
          << "row " << row << ", channel " << c;
    }
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t j = 0; j < n.keys; ++j) {
      most = std::max(most, truth.biased.data()[row * n.keys + j]);
    }
    for (std::int64_t j = 0; j < n.keys; ++j) {
      sum += std::exp(truth.biased.data()[row * n.keys + j] - most);
    }
    ASSERT_NEAR(static_cast<double>(logs.data()[row]), most + std::log(sum), 1e-5) << row;
  }
}

TEST_F(MatmulPrecisionTest, IsTheFormulaWithRoundedFactors) {
  for (const Sizes& sizes :
       {Sizes{9, 9, 1, 1}, Sizes{17, 40, 16, 15}, Sizes{64, 128, 32, 16}, Sizes{70, 131, 33, 17},
        Sizes{300, 290, 80, 48}, Sizes{20, 5000, 8, 8}, Sizes{16, 3, 576, 512}}) {
    for (const double softcap : {0.0, 2.0}) {
      if (sizes.keys >= sizes.queries) compare<float>(sizes, true, softcap);
      compare<float>(sizes, false, softcap);
      compare<bfloat16>(sizes, false, softcap);
    }
  }
}

// Masks, windows, biases, sinks, a rotation and groups of heads at once.
struct Everything {
  static constexpr std::int64_t kLength = 290, kHeads = 4, kHeadDim = 40, kValueDim = 24;
  Tensor<float> q = normal<float>({2, kHeads, kLength, kHeadDim}, 1);
  Tensor<float> k = normal<float>({2, kHeads / 2, kLength, kHeadDim}, 2);
  Tensor<float> v = normal<float>({2, kHeads / 2, kLength, kValueDim}, 3);
  Tensor<float> mask = normal<float>({kHeads, kLength, kLength}, 4);
  RotationTable<float> rotation = rotary<float>({.head_dim = kHeadDim}, kLength);
  DistanceBias bias{normal<float>({kHeads, 2 * kLength - 1}, 5), kLength - 1};
  std::vector<double> sinks{0.5, -1, 2, 0};
  AttentionOptions<float> options = rounding<float>();

  Everything() {
    for (float& x : mask.span()) {
      if (x > 1) x = -std::numeric_limits<float>::infinity();
    }
    options.causal = Causal::top_left;
    options.window = {170, 0};
    options.mask = FloatMask<float>(mask.view());
    options.bias = &bias;
    options.rotation = &rotation;
    options.sinks = sinks;
    options.softcap = 5;
  }
  Tensor<float> run() const {
    Tensor<float> out({2, kHeads, kLength, kValueDim});
    attention<float>(q, k, v, out, options);
    return out;
  }
};

// Scores are sums of 40 products of about 1, over sqrt(40): the rounding of factors moves them by a
// few times 2^-8, and outputs, means of values up to 4, by a few times that.
TEST_F(MatmulPrecisionTest, IsNearFloat32WithAllOptions) {
  Everything call;
  const auto got = call.run();
  call.options.matmul_precision = MatmulPrecision::float32;
  const auto want = call.run();
  double worst = 0;
  for (std::int64_t n = 0; n < got.count(); ++n) {
    worst = std::max(worst, static_cast<double>(std::abs(got.data()[n] - want.data()[n])));
  }
  EXPECT_LT(worst, 0.1);
  EXPECT_GT(worst, 1e-5);
}

// Keys of bfloat16 in whole tiles are read in place, but for a rotation.
TEST_F(MatmulPrecisionTest, RotatesKeysOfBfloat16) {
  const auto q = normal<bfloat16>({1, 2, 64, 32}, 1), k = normal<bfloat16>({1, 2, 128, 32}, 2);
  const auto rotation = rotary<float>({.head_dim = 32}, 128);
  auto options = rounding<bfloat16>();
  options.causal = Causal::bottom_right;
  options.rotation = &rotation;
  Tensor<bfloat16> rounds({1, 2, 64, 32}), plain(rounds.shape());
  attention<bfloat16>(q, k, k, rounds, options);
  options.matmul_precision = MatmulPrecision::float32;
  attention<bfloat16>(q, k, k, plain, options);
  for (std::int64_t n = 0; n < plain.count(); ++n) {
    ASSERT_NEAR(static_cast<float>(rounds.data()[n]), static_cast<float>(plain.data()[n]), 0.1);
  }
}

TEST_F(MatmulPrecisionTest, HasTheSameBitsForAnyThreadsBatchAndChunk) {
  Everything call;
  call.options.threads = 1;
  const auto all = call.run();
  call.options.threads = 3;
  EXPECT_TRUE(same_bits<float>(call.run(), all));
  // The last 100 queries of the second sequence, alone.
  constexpr std::int64_t kCount = 100, kFirst = Everything::kLength - kCount;
  Tensor<float> part({1, call.kHeads, kCount, call.kValueDim});
  auto options = call.options;
  const auto rows = call.mask.view().narrow(1, kFirst, kCount);
  options.mask = FloatMask<float>(rows);
  const std::vector<std::int64_t> offsets{kFirst};
  options.causal = Causal::at_offsets;
  options.query_offsets = offsets;
  const auto second = [](const Tensor<float>& x) { return x.view().narrow(0, 1, 1); };
  attention<float>(second(call.q).narrow(2, kFirst, kCount), second(call.k), second(call.v), part,
                   options);
  EXPECT_TRUE(same_bits<float>(part, second(all).narrow(2, kFirst, kCount)));
}

// A term that calls the operator, as terms may: its tiles must not be those of the call.
class CallingTerm : public ScoreTerm {
 public:
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>&) const noexcept override {
    Tensor<float> x({1, 1, 16, 32}), out({1, 1, 16, 32});
    attention<float>(x, x, x, out, rounding<float>());
  }
};

TEST_F(MatmulPrecisionTest, MayBeNested) {
  Everything call;
  const auto want = call.run();
  const CallingTerm term;
  call.options.terms = {&term};
  EXPECT_TRUE(same_bits<float>(call.run(), want));
}

TEST_F(MatmulPrecisionTest, DoesNotReadWhatIsHidden) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Everything call;
  // No query sees keys 100 to 105: the mask hides them, in the middle of what else is visible.
  for (std::int64_t h = 0; h < call.kHeads; ++h) {
    for (std::int64_t i = 0; i < call.kLength; ++i) {
      for (std::int64_t j = 100; j < 106; ++j) call.mask(h, i, j) = -kInfinity;
    }
  }
  const auto want = call.run();
  for (std::int64_t j = 100; j < 106; ++j) {
    for (std::int64_t c = 0; c < call.kHeadDim; ++c) call.k(0, 0, j, c) = kNan;
    for (std::int64_t c = 0; c < call.kValueDim; ++c) call.v(0, 0, j, c) = j % 2 ? kNan : kInfinity;
  }
  EXPECT_TRUE(same_bits<float>(call.run(), want));
}

TEST_F(MatmulPrecisionTest, SpreadsVisibleNanInValuesToItsChannelAlone) {
  Everything call;
  const auto want = call.run();
  call.v(0, 0, 50, 7) = std::numeric_limits<float>::quiet_NaN();
  const auto got = call.run();
  std::int64_t spread = 0;
  for (std::int64_t h = 0; h < call.kHeads; ++h) {
    for (std::int64_t i = 0; i < call.kLength; ++i) {
      // The rotation, biases and the softcap hide nothing.
      const bool sees = h < 2 && i >= 50 && i - 50 <= 170 &&
                        call.mask(h, i, 50) > -std::numeric_limits<float>::infinity();
      for (std::int64_t c = 0; c < call.kValueDim; ++c) {
        if (sees && c == 7) {
          EXPECT_TRUE(std::isnan(got(0, h, i, c))) << h << ' ' << i;
          ++spread;
        } else {
          ASSERT_EQ(got(0, h, i, c), want(0, h, i, c)) << h << ' ' << i << ' ' << c;
        }
      }
    }
  }
  EXPECT_GT(spread, 50);
}

// The largest floats round to infinity, which they are not.
TEST_F(MatmulPrecisionTest, KeepsLargestValuesFinite) {
  Tensor<float> zeros({1, 1, 16, 8}), v({1, 1, 16, 4}), out({1, 1, 16, 4});
  for (float& x : v.span()) x = std::numeric_limits<float>::max();
  attention<float>(zeros, zeros, v, out, rounding<float>());
  for (const float x : out.span()) {
    ASSERT_NEAR(static_cast<double>(x) / static_cast<double>(v.data()[0]), 1, 1e-6);
  }
}

TEST_F(MatmulPrecisionTest, LeavesFewQueriesWeightsAndFloat64AsTheyAre) {
  const auto q = normal<float>({1, 2, 8, 16}, 1), k = normal<float>({1, 2, 50, 16}, 2);
  Tensor<float> rounds({1, 2, 8, 16}), plain(rounds.shape());
  attention<float>(q, k, k, rounds, rounding<float>());
  attention<float>(q, k, k, plain);
  EXPECT_TRUE(same_bits<float>(rounds, plain));
  EXPECT_EQ(attention_plan<float>(q, k, k, rounding<float>()).arithmetic, "float32");
  EXPECT_TRUE(same_bits<float>(attention_weights<float>(k, k, rounding<float>()),
                               attention_weights<float>(k, k)));
  const auto wide = normal<double>({1, 2, 20, 16}, 1);
  EXPECT_EQ(attention_plan<double>(wide, wide, wide, rounding<double>()).arithmetic, "float64");
}

TEST_F(MatmulPrecisionTest, IsInThePlan) {
  const auto x = normal<bfloat16>({1, 2, 20, 32}, 1);
  const AttentionPlan plan = attention_plan<bfloat16>(x, x, x, rounding<bfloat16>());
  EXPECT_EQ(plan.arithmetic, std::string(kernels::bf16_products()->name) + " bfloat16");
  EXPECT_EQ(plan.tile_lanes, kernels::bf16_products()->tile_lanes);
  EXPECT_TRUE(plan.notes.empty());  // keys and values are not widened
  const auto wide = normal<float>({1, 2, 20, 32}, 1);
  EXPECT_EQ(attention_plan<float>(wide, wide, wide, rounding<float>()).notes.size(), 2U);
}

TEST(MatmulPrecisionNames, AreReadBack) {
  EXPECT_EQ(parse_name<MatmulPrecision>("bfloat16", "here"), MatmulPrecision::bfloat16);
  EXPECT_EQ(name_of(MatmulPrecision::float32), "float32");
}

}  // namespace
}  // namespace sextant::matmul_precision_test
