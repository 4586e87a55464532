// Stick-breaking attention against its definition in float64, forward and backward, its laws, and
// what is refused.
#include "sextant/attention/stick_breaking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "attention/merged/self_extend_cases.h"
#include "sextant/schemes/distance/alibi.h"
#include "support/error_of.h"

namespace sextant::stick_breaking_test {
namespace {

using self_extend_test::random_array;

constexpr std::int64_t kBatch = 2, kHeads = 4, kKvHeads = 2, kDim = 8, kValueDim = 5;

struct StickCase {
  std::int64_t q_len = 40, k_len = 40;
  std::int64_t offsets[kBatch] = {0, 0};  // positions of query 0 among the keys
  std::int64_t lengths[kBatch] = {1000, 1000};
  double size = 1;  // of queries
  StickBreaking stick{};
  AttentionOptions<float> options{.causal = Causal::top_left};
  Tensor<bool> mask{};  // [q_len, k_len]
  Tensor<float> q{}, k{}, v{}, dout{};

  void make() {
    q = random_array({kBatch, kHeads, q_len, kDim}, 1, size);
    k = random_array({kBatch, kKvHeads, k_len, kDim}, 2);
    v = random_array({kBatch, kKvHeads, k_len, kValueDim}, 3);
    dout = random_array({kBatch, kHeads, q_len, kValueDim}, 4);
  }
  bool sees(std::int64_t b, std::int64_t i, std::int64_t j) const {
    if (mask.rank() == 2 && !mask(i, j)) return false;
    return j < lengths[b] && j < k_len && j < i + offsets[b] + (stick.current ? 1 : 0);
  }
  Tensor<float> result(View<float> log_sums = {}) const {
    Tensor<float> out({kBatch, kHeads, q_len, kValueDim});
    stick_breaking_attention(q, k, v, out.view(), stick, options, log_sums);
    return out;
  }
};

struct Defined {
  Tensor<double> out, left, dq, dk, dv;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// The paper's equations, with the stick itself: the key takes sigmoid(z) of what is left. The
// gradients are those of that recursion, from the last step to the first.
Defined defined(const StickCase& c) {
  Defined d{.out = Tensor<double>({kBatch, kHeads, c.q_len, kValueDim}),
            .left = Tensor<double>({kBatch, kHeads, c.q_len}),
            .dq = Tensor<double>({kBatch, kHeads, c.q_len, kDim}),
            .dk = Tensor<double>({kBatch, kKvHeads, c.k_len, kDim}),
            .dv = Tensor<double>({kBatch, kKvHeads, c.k_len, kValueDim})};
  const double scale = c.options.scale.value_or(1 / std::sqrt(static_cast<double>(kDim)));
  const auto size = static_cast<std::size_t>(c.k_len);
  for (std::int64_t b = 0; b < kBatch; ++b) {
    for (std::int64_t h = 0; h < kHeads; ++h) {
      const std::int64_t kv = h / (kHeads / kKvHeads);
      for (std::int64_t i = 0; i < c.q_len; ++i) {
        std::vector<double> share(size, 0), before(size, 0);
        double left = 1;
        for (std::int64_t j = c.k_len; j-- > 0;) {
          if (!c.sees(b, i, j)) continue;
          double z = 0;
          for (std::int64_t n = 0; n < kDim; ++n) {
            z += static_cast<double>(c.q(b, h, i, n)) * static_cast<double>(c.k(b, kv, j, n));
          }
          const auto at = static_cast<std::size_t>(j);
          share[at] = sigmoid(scale * z);
          before[at] = left;
          for (std::int64_t n = 0; n < kValueDim; ++n) {
            d.out(b, h, i, n) += share[at] * left * static_cast<double>(c.v(b, kv, j, n));
          }
          left *= 1 - share[at];
        }
        d.left(b, h, i) = left;
        double dleft = 0;  // of the stick after key j
        for (std::int64_t j = 0; j < c.k_len; ++j) {
          if (!c.sees(b, i, j)) continue;
          const auto at = static_cast<std::size_t>(j);
          double dvalue = 0;
          for (std::int64_t n = 0; n < kValueDim; ++n) {
            const auto dout = static_cast<double>(c.dout(b, h, i, n));
            dvalue += dout * static_cast<double>(c.v(b, kv, j, n));
            d.dv(b, kv, j, n) += share[at] * before[at] * dout;
          }
          const double dshare = before[at] * (dvalue - dleft);
          dleft = share[at] * dvalue + (1 - share[at]) * dleft;
          const double dz = scale * share[at] * (1 - share[at]) * dshare;
          for (std::int64_t n = 0; n < kDim; ++n) {
            d.dq(b, h, i, n) += dz * static_cast<double>(c.k(b, kv, j, n));
            d.dk(b, kv, j, n) += dz * static_cast<double>(c.q(b, h, i, n));
          }
        }
      }
    }
  }
  return d;
}

double largest(View<const double> x) {
  double most = 0;
  for (std::int64_t i = 0; i < x.count(); ++i) most = std::max(most, std::abs(x.data()[i]));
  return most;
}

// The relative error of sums of weights. A score z is a chain of kDim products, which three
// operations round after that, so it is wrong by (kDim + 5) 2^-24 of the largest sum of |products|.
// The sum S of log(1 + e^z) over later keys is wrong by S times that, S times 8 2^-24 of the
// function, and its roundings; as a weight is at most e^-S, both are largest for S = 1.
double relative_error(const StickCase& c) {
  double most = 0;
  for (std::int64_t b = 0; b < kBatch; ++b) {
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t i = 0; i < c.q_len; ++i) {
        for (std::int64_t j = 0; j < c.k_len; ++j) {
          double sum = 0;
          for (std::int64_t n = 0; n < kDim; ++n) {
            sum += std::abs(static_cast<double>(c.q(b, h, i, n)) *
                            static_cast<double>(c.k(b, h / (kHeads / kKvHeads), j, n)));
          }
          most = std::max(most, sum);
        }
      }
    }
  }
  const double scale = c.options.scale.value_or(1 / std::sqrt(static_cast<double>(kDim)));
  return (2 * (kDim + 5) * scale * most + 16) * 0x1p-24;
}

void expect_near(View<const float> got, View<const double> wanted, double relative) {
  ASSERT_EQ(got.shape(), wanted.shape());
  const double tolerance = relative * largest(wanted);
  for (std::int64_t i = 0; i < got.count(); ++i) {
    ASSERT_NEAR(static_cast<double>(got.data()[i]), wanted.data()[i], tolerance) << i;
  }
}

void expect_defined(const StickCase& c) {
  const Defined wanted = defined(c);
  Tensor<float> log_sums({kBatch, kHeads, c.q_len});
  const Tensor<float> got = c.result(log_sums.view());
  const double relative = relative_error(c);
  expect_near(got, wanted.out, relative);
  for (std::int64_t i = 0; i < log_sums.count(); ++i) {
    const double sum = 1 - wanted.left.data()[i];
    ASSERT_NEAR(std::exp(static_cast<double>(log_sums.data()[i])), sum, relative) << i;
    EXPECT_LE(log_sums.data()[i], 0);
  }
  Tensor<float> dq(c.q.shape()), dk(c.k.shape()), dv(c.v.shape());
  AttentionGradients<float> gradients{.q = dq.view(), .k = dk.view(), .v = dv.view(), .bias = {}};
  stick_breaking_backward(c.q, c.k, c.v, c.dout, gradients, c.stick, c.options, log_sums);
  // A gradient is a product of a weight, two shares and a sum over earlier keys, each of which has
  // this error, and a sum of up to 40 of these.
  expect_near(dq, wanted.dq, 4 * relative);
  expect_near(dk, wanted.dk, 4 * relative);
  expect_near(dv, wanted.dv, 4 * relative);
}

TEST(StickBreaking, IsItsDefinition) {
  for (const double size : {0.1, 1.0, 8.0}) {
    for (const bool current : {false, true}) {
      SCOPED_TRACE(size);
      StickCase c;
      c.size = size;
      c.stick.current = current;
      c.make();
      expect_defined(c);
    }
  }
}

// Several blocks of queries and keys; with large scores the sticks end within the first keys.
TEST(StickBreaking, OfLongRowsIsItsDefinition) {
  for (const double size : {0.05, 1.0, 6.0}) {
    SCOPED_TRACE(size);
    StickCase c;
    c.q_len = c.k_len = 300;
    c.size = size;
    c.make();
    expect_defined(c);
  }
}

TEST(StickBreaking, CountsPositionsFromTheDiagonal) {
  StickCase c;
  c.q_len = 7;
  c.offsets[0] = c.offsets[1] = 33;
  c.options.causal = Causal::bottom_right;
  c.make();
  expect_defined(c);
  c.options.causal = Causal::at_offsets;
  c.offsets[0] = -3;
  c.offsets[1] = 21;
  c.options.query_offsets = c.offsets;
  expect_defined(c);
  c.options.query_offsets = {};
  c.options.causal = Causal::at_lengths;
  c.lengths[0] = 20;
  c.lengths[1] = 40;
  c.options.key_lengths = c.lengths;
  c.offsets[0] = 13;
  c.offsets[1] = 33;
  c.options.scale = 0.7;
  expect_defined(c);
}

TEST(StickBreaking, HiddenKeysTakeNothing) {
  StickCase c;
  c.mask = Tensor<bool>({c.q_len, c.k_len});
  for (std::int64_t i = 0; i < c.mask.count(); ++i) c.mask.data()[i] = i % 3 != 0 && i > 200;
  c.options.mask = std::as_const(c.mask).view();
  c.make();
  expect_defined(c);
}

// Weights of equal logits are 1/2, 1/4, 1/8 of the stick.
TEST(StickBreaking, OfZeroLogitsHalvesTheStick) {
  StickCase c;
  c.size = 0;
  c.make();
  for (float& x : c.v.span()) x = 1;
  const Tensor<float> out = c.result();
  for (std::int64_t i = 0; i < c.q_len; ++i) {
    EXPECT_NEAR(out(0, 0, i, 0), 1 - std::exp2(-static_cast<double>(i)), 16 * 0x1p-24) << i;
  }
}

TEST(StickBreaking, StandsExtremeLogits) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  StickCase c;
  c.make();
  for (std::int64_t n = 0; n < kDim; ++n) {
    for (std::int64_t i = 0; i < c.q_len; ++i) c.q(0, 0, i, n) = 1;
    c.k(0, 0, 5, n) = kInfinity;   // takes all that is left
    c.k(0, 0, 9, n) = -kInfinity;  // takes nothing
    c.k(0, 0, 12, n) = -1e30F;
  }
  Tensor<float> log_sums({kBatch, kHeads, c.q_len});
  const Tensor<float> out = c.result(log_sums.view());
  for (std::int64_t i = 6; i < c.q_len; ++i) {
    EXPECT_NEAR(std::exp(log_sums(0, 0, i)), 1, 16 * 0x1p-24) << i;
    EXPECT_TRUE(std::isfinite(out(0, 0, i, 0))) << i;
  }
  for (std::int64_t n = 0; n < kValueDim; ++n) EXPECT_EQ(out(0, 0, 6, n), c.v(0, 0, 5, n));
  // Keys 6 and 7 take their shares first. These rows are computed in float64.
  const double scale = 1 / std::sqrt(static_cast<double>(kDim));
  double left = 1, wanted = 0;
  for (const std::int64_t j : {7, 6}) {
    double z = 0;
    for (std::int64_t n = 0; n < kDim; ++n) z += scale * static_cast<double>(c.k(0, 0, j, n));
    wanted += left * sigmoid(z) * static_cast<double>(c.v(0, 0, j, 0));
    left *= 1 - sigmoid(z);
  }
  wanted += left * static_cast<double>(c.v(0, 0, 5, 0));
  EXPECT_NEAR(static_cast<double>(out(0, 0, 8, 0)), wanted, 1e-6);
}

// An infinite query makes its key head's gradients run in float64, also those of other queries.
TEST(StickBreaking, HasGradientsBesideAnInfiniteQuery) {
  StickCase c;
  c.make();
  const Defined wanted = defined(c);
  for (std::int64_t n = 0; n < kDim; ++n) {
    c.q(0, 0, 39, n) = std::numeric_limits<float>::infinity();
  }
  Tensor<float> log_sums({kBatch, kHeads, c.q_len}), dq(c.q.shape());
  static_cast<void>(c.result(log_sums.view()));
  stick_breaking_backward(c.q, c.k, c.v, c.dout, {.q = dq.view(), .bias = {}}, c.stick, c.options,
                          log_sums);
  for (std::int64_t i = 0; i < 39; ++i) {
    for (std::int64_t n = 0; n < kDim; ++n) {
      ASSERT_NEAR(static_cast<double>(dq(0, 0, i, n)), wanted.dq(0, 0, i, n), 1e-5) << i;
    }
  }
}

TEST(StickBreaking, ReadsNothingAfterTheQuery) {
  StickCase c;
  c.make();
  const Tensor<float> whole = c.result();
  for (std::int64_t n = 0; n < kDim; ++n) {
    c.k(0, 0, 30, n) = std::numeric_limits<float>::quiet_NaN();
  }
  const Tensor<float> got = c.result();
  for (std::int64_t i = 0; i <= 30; ++i) {
    EXPECT_EQ(got(0, 0, i, 0), whole(0, 0, i, 0));
  }
  EXPECT_TRUE(std::isnan(got(0, 0, 31, 0)));
}

TEST(StickBreaking, HasTheSameBitsForAnyThreads) {
  const std::int64_t offsets[kBatch] = {250, 250};
  StickCase c;
  c.q_len = c.k_len = 300;
  c.make();
  c.options.threads = 1;
  const Tensor<float> one = c.result();
  c.options.threads = 3;
  const Tensor<float> three = c.result();
  for (std::int64_t i = 0; i < one.count(); ++i) EXPECT_EQ(one.data()[i], three.data()[i]);
  // Rows do not depend on the queries beside them.
  StickCase last;
  last.q_len = 47;
  last.k_len = 300;
  last.make();
  for (std::int64_t n = 0; n < last.q.count(); ++n) {
    const std::int64_t slice = n / (47 * kDim), rest = n % (47 * kDim);
    last.q.data()[n] = c.q.data()[(slice * 300 + 250) * kDim + rest];
  }
  last.options.causal = Causal::at_offsets;
  last.options.query_offsets = offsets;
  const Tensor<float> some = last.result();
  for (std::int64_t h = 0; h < kHeads; ++h) {
    for (std::int64_t i = 0; i < 47; ++i) EXPECT_EQ(some(1, h, i, 2), one(1, h, 250 + i, 2)) << i;
  }
}

TEST(StickBreaking, RefusesWhatHasNoMeaning) {
  const auto error_with = [](const std::function<void(StickCase&)>& change) {
    StickCase c;
    c.make();
    change(c);
    return error_of([&] { static_cast<void>(c.result()); });
  };
  const double sinks[] = {0, 0, 0, 0};
  const std::int64_t segments[] = {0, 40};
  const Tensor<float> float_mask({40, 40});
  const DistanceBias bias = alibi({.heads = kHeads});
  const std::vector<std::pair<std::function<void(StickCase&)>, std::string>> cases = {
      {[](StickCase& c) { c.options.causal = {}; }, "causal"},
      {[](StickCase& c) { c.options.softcap = 3; }, "softcap"},
      {[&](StickCase& c) { c.options.sinks = sinks; }, "sinks"},
      {[](StickCase& c) { c.options.dropout = 0.5; }, "dropout"},
      {[&](StickCase& c) { c.options.bias = &bias; }, "bias"},
      {[](StickCase& c) { c.options.terms = {nullptr}; }, "terms"},
      {[&](StickCase& c) { c.options.mask = float_mask.view(); }, "mask"},
      {[](StickCase& c) { c.options.rotation = &self_extend_test::table(); }, "rotation"},
      {[&](StickCase& c) { c.options.segments = segments; }, "segments"},
      {[](StickCase& c) { c.options.window.left = 3; }, "window"},
      {[](StickCase& c) {
         c.v = Tensor<float>({kBatch, kKvHeads, 39, kValueDim});
       },
       "v"}};
  for (const auto& [change, argument] : cases) {
    const std::string error = error_with(change);
    EXPECT_NE(error.find("stick_breaking_attention." + argument), std::string::npos)
        << argument << ": " << error;
  }
  StickCase c;
  c.make();
  Tensor<float> log_sums({kBatch, kHeads, c.q_len}), dsinks({kHeads});
  AttentionGradients<float> gradients;
  gradients.sinks = dsinks.view();
  EXPECT_NE(error_of([&] {
              stick_breaking_backward(c.q, c.k, c.v, c.dout, gradients, c.stick, c.options,
                                      log_sums);
            }).find("stick_breaking_backward.gradients"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant::stick_breaking_test
