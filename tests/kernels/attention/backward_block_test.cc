// The backward kernel on every instruction set, against the formulas in float64; the denormal mode
// it leaves behind.
#include "kernels/attention/backward_block.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/arrays/converted.h"
#include "kernels/rotate/every_target.h"
#include "reference/attention_backward.h"
#include "sextant/core/random.h"

namespace sextant::kernels {
namespace {

Tensor<float> random_tensor(const Shape& shape, NumpyRandom& random) {
  Tensor<float> x(shape);
  for (float& value : x.span()) value = static_cast<float>(random.normal());
  return x;
}

StoredRows rows_of(const Tensor<float>& x) { return {x.data(), x.size(3), 1, Storage::float32}; }

// One head: 100 queries over 150 keys, neither a multiple of anything; 37 and 21 channels.
class BackwardBlockTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kQueries = 100, kKeys = 150, kWidth = 37, kValues = 21;

  struct Kind {
    bool causal, biased, by_tiles;
    double softcap, sink;
    bool has_log_sum_exp;
  };

  // Root of the mean square of errors.
  static double error(const float* got, std::int64_t stride, const Tensor<double>& exact) {
    const std::int64_t width = exact.size(3);
    double sum = 0;
    for (std::int64_t n = 0; n < exact.count(); ++n) {
      const double difference =
          static_cast<double>(got[n / width * stride + n % width]) - exact.data()[n];
      sum += difference * difference;
    }
    return std::sqrt(sum / static_cast<double>(exact.count()));
  }
  template <class Number>
  static double error(const Tensor<Number>& got, const Tensor<double>& exact) {
    double sum = 0;
    for (std::int64_t n = 0; n < exact.count(); ++n) {
      sum += std::pow(static_cast<double>(got.data()[n]) - exact.data()[n], 2);
    }
    return std::sqrt(sum / static_cast<double>(exact.count()));
  }
  // At most twice the plain formula's error, which is no more than a thousandth of the gradient.
  template <class Number>
  static void expect_close(const char* what, double error_of_ours, const Tensor<Number>& plain,
                           const Tensor<double>& exact) {
    EXPECT_LE(error_of_ours, 2 * error(plain, exact)) << what;
    EXPECT_LE(1000 * error(plain, exact), error(Tensor<double>(exact.shape()), exact)) << what;
  }

  static std::int64_t diagonal_key(std::int64_t i) { return i + kKeys - kQueries; }

  void check(const Kind& kind) {
    reference::Attention call{
        converted<double>(q), converted<double>(k), converted<double>(v), {}, {}, 0.2,
        kind.softcap};
    if (kind.causal) {
      call.sees = [](auto, auto, auto i, auto j) { return j <= diagonal_key(i); };
    }
    if (kind.biased) {
      call.added = [&](auto, auto, auto i, auto j) {
        return static_cast<double>(bias[static_cast<std::size_t>(i - j + kKeys)]);
      };
    }
    std::vector<double> sinks;
    if (std::isfinite(kind.sink)) sinks.push_back(kind.sink);
    const auto exact = reference::attention_gradient<double>(call, sinks, converted<double>(dout));
    const auto plain = reference::attention_gradient<float>(call, sinks, converted<double>(dout));

    Tensor<float> out(dout.shape()), dq(q.shape());
    for (std::int64_t n = 0; n < out.count(); ++n) {
      out.data()[n] = static_cast<float>(exact.output.data()[n]);
    }
    std::vector<std::int32_t> first(kQueries, 0), last(kQueries, kKeys);
    for (std::int64_t i = 0; i < kQueries && kind.causal; ++i) {
      last[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(diagonal_key(i)) + 1;
    }
    std::vector<float> scaled(bias);
    for (float& value : scaled) value *= static_cast<float>(kLog2E);
    Tensor<float> dk(Shape{kKeys, padded_width(kWidth)}), dv(Shape{kKeys, padded_width(kValues)});
    std::vector<float> line(kQueries + kKeys + 2 * kQueryBlock);
    double sink_gradient = 0;
    const std::vector<float> given = log_sums(call, sinks);
    BackwardBlock block{.q = rows_of(q),
                        .k = rows_of(k),
                        .v = rows_of(v),
                        .out = rows_of(out),
                        .dout = rows_of(dout),
                        .queries = kQueries,
                        .head_dim = kWidth,
                        .v_dim = kValues,
                        .numbers = rounded({.scale = 0.2, .softcap = kind.softcap}, kLog2E),
                        .scale_base_e = 0.2F,
                        .sink = static_cast<float>(kind.sink * kLog2E),
                        .key_begin = first.data(),
                        .key_end = last.data()};
    if (kind.biased && !kind.by_tiles) block.line = scaled.data() + kKeys;
    if (kind.by_tiles) {
      block.tiles = {[](const void* context, std::int64_t first_query, std::int64_t,
                        std::int64_t first_key, std::int64_t keys, float* tile) {
                       const auto* from = static_cast<const float*>(context) + kKeys;
                       for (std::int64_t j = 0; j < keys; ++j) {
                         for (std::int64_t i = 0; i < kQueryBlock; ++i) {
                           const std::int64_t query = std::min(first_query + i, kQueries - 1);
                           tile[j * kQueryBlock + i] = from[query - first_key - j];
                         }
                       }
                       return TileBias::numbers;
                     },
                     scaled.data()};
    }
    if (kind.has_log_sum_exp) {
      block.log_sum_exp = given.data();
      block.log_sum_exp_stride = 1;
    }
    block.dq = {dq.data(), kWidth, 1, Storage::float32};
    block.dk.chain = dk.data();
    block.dv.chain = dv.data();
    block.wants_line_gradient = true;
    block.diagonal_bias_gradient = line.data() + kKeys + kQueryGroup;
    block.sink_gradient = &sink_gradient;
    const auto size = backward_block_scratch(block);
    auto scratch = Tensor<float>::uninitialized(Shape{size});
    std::fill_n(scratch.data(), size, std::numeric_limits<float>::quiet_NaN());
    ASSERT_TRUE(backward_block(block, scratch.data()));

    expect_close("q", error(dq.data(), kWidth, exact.q), plain.q, exact.q);
    for (float& value : dk.span()) value *= 0.2F;
    expect_close("k", error(dk.data(), padded_width(kWidth), exact.k), plain.k, exact.k);
    expect_close("v", error(dv.data(), padded_width(kValues), exact.v), plain.v, exact.v);
    const auto diagonals = [](const auto& gradient) {
      Tensor<double> sums(Shape{1, 1, 1, kQueries + kKeys});
      for (std::int64_t i = 0; i < kQueries; ++i) {
        for (std::int64_t j = 0; j < kKeys; ++j) {
          sums(0, 0, 0, i - j + kKeys) += static_cast<double>(gradient.added(0, 0, i, j));
        }
      }
      return sums;
    };
    expect_close("line", error(line.data() + kQueryGroup, 0, diagonals(exact)), diagonals(plain),
                 diagonals(exact));
    if (!sinks.empty()) {
      // A sum of 100 terms, each of a share and delta good to some 40 roundings.
      EXPECT_NEAR(sink_gradient, exact.sinks(0, 0),
                  100 * 40 * 0x1p-24 * std::abs(exact.sinks(0, 0)) + 1e-5);
    }
  }

  // log(sum(exp(scores))) of every query, from the oracle's stages.
  static std::vector<float> log_sums(const reference::Attention& call,
                                     const std::vector<double>& sinks) {
    const auto result = reference::attend(call);
    std::vector<float> sums;
    for (std::int64_t i = 0; i < kQueries; ++i) {
      double sum = sinks.empty() ? 0 : std::exp(sinks[0]);
      for (std::int64_t j = 0; j < kKeys; ++j) sum += std::exp(result.biased(0, 0, i, j));
      sums.push_back(static_cast<float>(std::log(sum)));
    }
    return sums;
  }

  NumpyRandom random{3};
  Tensor<float> q = random_tensor(Shape{1, 1, kQueries, kWidth}, random),
                k = random_tensor(Shape{1, 1, kKeys, kWidth}, random),
                v = random_tensor(Shape{1, 1, kKeys, kValues}, random),
                dout = random_tensor(Shape{1, 1, kQueries, kValues}, random);
  std::vector<float> bias = [this] {
    std::vector<float> values(kQueries + kKeys + kQueryBlock);
    for (float& value : values) value = static_cast<float>(random.normal());
    return values;
  }();
};

constexpr double kNone = -std::numeric_limits<double>::infinity();

TEST_F(BackwardBlockTest, IsAsTrueAsPlainFloat32OnEveryTarget) {
  on_every_target([&] {
    check({.causal = false, .sink = kNone, .has_log_sum_exp = true});
    check({.causal = true, .sink = 0.5, .has_log_sum_exp = false});
    check({.causal = true, .biased = true, .softcap = 3, .sink = kNone, .has_log_sum_exp = true});
    check({.causal = false, .biased = true, .by_tiles = true, .softcap = 3, .sink = 1});
  });
}

TEST_F(BackwardBlockTest, LeavesDenormalsAsTheyWere) {
  check({.causal = true, .sink = kNone});
  volatile float tiny = 1e-39F;
  EXPECT_GT(tiny * 0.5F, 0);
}

}  // namespace
}  // namespace sextant::kernels
