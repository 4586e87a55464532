// Self-Extend against its definition in float64, against attention() where both are the same, and
// what is refused.
#include "sextant/attention/self_extend.h"

#include <gtest/gtest.h>

#include <limits>

#include "attention/merged/self_extend_cases.h"
#include "support/error_of.h"

namespace sextant::self_extend_test {
namespace {

struct Result {
  Tensor<float> out;
  Tensor<float> logs;  // [2, batch, heads, q_len]
};

Result result_of(const Case& call) {
  Result made{Tensor<float>({2, 4, call.q_len, kValueDim}), Tensor<float>({2, 2, 4, call.q_len})};
  self_extend_attention(call.q, call.k, call.v, made.out.view(), call.extend, call.options,
                        made.logs.view());
  return made;
}

template <class Hidden>
void expect_defined(const Case& call, const Hidden& hidden) {
  const Result got = result_of(call);
  const reference::AttentionResult wanted = reference::attend(defined(call, hidden));
  const double tolerance = relative_error(call) * largest(wide(call.v));
  ASSERT_LT(tolerance, 1e-3);
  for (std::int64_t i = 0; i < got.out.count(); ++i) {
    ASSERT_NEAR(got.out.data()[i], wanted.output.data()[i], tolerance) << i;
  }
}

TEST(SelfExtend, IsItsDefinition) {
  for (const std::int64_t window : {1, 2, 8, 17, 39, 40}) {
    for (const std::int64_t group : {1, 2, 3, 8, 64}) {
      SCOPED_TRACE(std::to_string(window) + " " + std::to_string(group));
      Case call{.extend = {.window = window, .group = group}};
      call.make();
      expect_defined(call, kNothing);
    }
  }
}

// Su 2023: distances stop at the window.
TEST(SelfExtend, OfOneGroupIsRerope) {
  const SelfExtend extend{.window = 8, .group = std::int64_t{1} << 53};
  EXPECT_EQ(distance(extend, 39, 0), 8);
  Case call{.extend = extend};
  call.make();
  expect_defined(call, kNothing);
}

TEST(SelfExtend, CountsPositionsFromTheDiagonal) {
  Case call{.q_len = 7, .k_len = 40, .offsets = {33, 33}};
  call.options.causal = Causal::bottom_right;
  call.make();
  expect_defined(call, kNothing);

  const std::int64_t offsets[] = {30, 5};
  call.offsets = {30, 5};
  call.options.causal = Causal::at_offsets;
  call.options.query_offsets = offsets;
  expect_defined(call, kNothing);

  const std::int64_t lengths[] = {20, 40};
  call.offsets = {13, 33};
  call.options.causal = Causal::at_lengths;
  call.options.query_offsets = {};
  call.options.key_lengths = lengths;
  expect_defined(call, kNothing);
}

TEST(SelfExtend, TakesMasksAndPadding) {
  Case call;
  call.make();
  Tensor<bool> mask({4, 1, 40});  // every third key of a head, and all far keys of head 3
  for (std::int64_t h = 0; h < 4; ++h) {
    for (std::int64_t j = 0; j < 40; ++j) mask(h, 0, j) = (j + h) % 3 != 0 && (h < 3 || j > 31);
  }
  const std::int64_t lengths[] = {40, 25};
  call.options.mask = std::as_const(mask).view();
  call.options.key_lengths = lengths;
  call.k(1, 0, 30, 0) = call.v(1, 1, 30, 0) = std::numeric_limits<float>::quiet_NaN();
  const Result got = result_of(call);
  call.k(1, 0, 30, 0) = call.v(1, 1, 30, 0) = 0;
  expect_defined(call, [&](std::int64_t, std::int64_t h, std::int64_t, std::int64_t j) {
    return !mask(h, 0, j);
  });
  const Result finite = result_of(call);
  for (std::int64_t i = 0; i < got.out.count(); ++i) {
    EXPECT_EQ(got.out.data()[i], finite.out.data()[i]);  // hidden keys are not read
  }
  EXPECT_EQ(got.logs(1, 0, 3, 39), -std::numeric_limits<float>::infinity());
}

// Without far keys it is one call; with groups of one position the distances are those of rotary.
TEST(SelfExtend, IsRotaryAttentionWhereDistancesAgree) {
  Case call{.extend = {.window = 40, .group = 5}};
  call.make();
  const double sinks[] = {0.5, -1, 2, 0};
  call.options.sinks = sinks;
  Tensor<float> plain({2, 4, 40, kValueDim}), logs({2, 4, 40});
  attention<float>(call.q, call.k, call.v, plain.view(), call.options, logs.view());
  const Result whole = result_of(call);
  for (std::int64_t i = 0; i < plain.count(); ++i) {
    EXPECT_EQ(whole.out.data()[i], plain.data()[i]);
  }
  call.extend = {.window = 11, .group = 1};
  const Result got = result_of(call);
  const double off = 2 * relative_error(call);  // both are off by as much
  for (std::int64_t i = 0; i < plain.count(); ++i) {
    EXPECT_NEAR(got.out.data()[i], plain.data()[i], off * largest(wide(call.v)));
  }
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t h = 0; h < 4; ++h) {
      for (std::int64_t i = 0; i < 40; ++i) {
        const double near = got.logs(0, b, h, i), far = got.logs(1, b, h, i);
        EXPECT_EQ(std::isinf(far), i < 11);
        EXPECT_NEAR(std::log(std::exp(near) + std::exp(far)), logs(b, h, i), off);
      }
    }
  }
}

TEST(SelfExtend, DropsTheWeightsThatAttentionDrops) {
  Case call;
  call.make();
  call.options.dropout = 0.4;
  call.options.dropout_seed = 77;
  const Result got = result_of(call);
  reference::Attention all = defined(call, kNothing);
  all.kept = [](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    return reference::kept_weight(0.4, 77, b * 4 + h, i, j);
  };
  const reference::AttentionResult wanted = reference::attend(all);
  const double tolerance = relative_error(call) * largest(wide(call.v)) / 0.6;
  for (std::int64_t i = 0; i < got.out.count(); ++i) {
    EXPECT_NEAR(got.out.data()[i], wanted.output.data()[i], tolerance);
  }
}

TEST(SelfExtend, DoesNotDependOnThreads) {
  Case call;
  call.make();
  const Result one = result_of(call);
  call.options.threads = 3;
  const Result three = result_of(call);
  for (std::int64_t i = 0; i < one.out.count(); ++i) {
    EXPECT_EQ(one.out.data()[i], three.out.data()[i]);
  }
}

TEST(SelfExtend, NamesTheOptionAtFault) {
  const auto refused = [](const char* name, const auto& change) {
    Case call;
    call.make();
    change(call);
    Tensor<float> out({2, 4, 40, kValueDim});
    expect_error(std::string("self_extend_attention.") + name, [&] {
      self_extend_attention(call.q, call.k, call.v, out.view(), call.extend, call.options);
    });
  };
  refused("window", [](Case& call) { call.extend.window = 0; });
  refused("group", [](Case& call) { call.extend.group = 0; });
  refused("rotation", [](Case& call) { call.options.rotation = nullptr; });
  refused("causal", [](Case& call) { call.options.causal = {}; });
  refused("causal", [](Case& call) { call.options.causal = Causal::none; });
  refused("window", [](Case& call) { call.options.window.left = 3; });
  refused("query_offsets", [](Case& call) { call.options.causal = Causal::at_offsets; });
  refused("key_lengths", [](Case& call) { call.options.causal = Causal::at_lengths; });
  const std::int64_t segments[] = {0, 40};
  refused("segments", [&](Case& call) { call.options.segments = segments; });
  refused("query_offsets", [&](Case& call) { call.options.query_offsets = segments; });
  const DistanceBias bias;
  refused("bias", [&](Case& call) { call.options.bias = &bias; });
  refused("terms", [](Case& call) { call.options.terms = {nullptr}; });
  const Tensor<std::int64_t> ids({1, 40});
  refused("query_positions", [&](Case& call) { call.options.query_positions = ids; });
  refused("q", [](Case& call) { call.q = Tensor<float>({4, 40, kDim}); });
  Case call;
  call.make();
  Tensor<float> out({2, 4, 40, kValueDim}), logs({2, 4, 40});
  expect_error("self_extend_attention.log_sum_exps", [&] {
    self_extend_attention(call.q, call.k, call.v, out.view(), call.extend, call.options,
                          logs.view());
  });
  const RotationTable<float> few = rotary<float>({.head_dim = kDim}, 39);
  call.options.rotation = &few;
  EXPECT_THROW(self_extend_attention(call.q, call.k, call.v, out.view(), call.extend, call.options),
               Error);
  EXPECT_EQ(out(1, 3, 39, 0), 0);  // nothing is written
}

}  // namespace
}  // namespace sextant::self_extend_test
