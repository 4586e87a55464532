// Gradients of Self-Extend against the formulas over whole matrices in float64.
#include <gtest/gtest.h>

#include "attention/merged/self_extend_cases.h"
#include "support/error_of.h"

namespace sextant::self_extend_test {
namespace {

struct Gradients {
  Tensor<float> q, k, v, sinks;
};

Gradients gradients_of(const Case& call, const Tensor<float>& dout, bool with_logs) {
  Tensor<float> out({2, 4, call.q_len, kValueDim}), logs({2, 2, 4, call.q_len});
  self_extend_attention(call.q, call.k, call.v, out.view(), call.extend, call.options, logs.view());
  Gradients got{Tensor<float>(call.q.shape()), Tensor<float>(call.k.shape()),
                Tensor<float>(call.v.shape()), Tensor<float>({4})};
  AttentionGradients<float> wanted{.q = got.q, .k = got.k, .v = got.v, .bias = {}};
  if (!call.options.sinks.empty()) wanted.sinks = got.sinks;
  const View<const float> given = with_logs ? std::as_const(logs).view() : View<const float>();
  self_extend_backward(call.q, call.k, call.v, out, dout, wanted, call.extend, call.options, given);
  return got;
}

void expect_near(const Tensor<float>& got, const Tensor<double>& wanted, double relative) {
  ASSERT_EQ(got.shape(), wanted.shape());
  const double tolerance = relative * largest(wanted);
  for (std::int64_t i = 0; i < got.count(); ++i) {
    ASSERT_NEAR(got.data()[i], wanted.data()[i], tolerance) << i;
  }
}

// Every gradient is a sum over keys or queries of products of a weight, a gradient of it and a
// number; the errors of weights are those of the output, and twice for dS = P (dP - delta).
void expect_gradients(const Case& call) {
  const Tensor<float> dout = random_array({2, 4, call.q_len, kValueDim}, 4);
  const reference::Attention all = defined(call, kNothing);
  const std::vector<double> sinks(call.options.sinks.begin(), call.options.sinks.end());
  const auto wanted = reference::attention_gradient<double>(all, sinks, wide(dout));
  const auto [dq, dk] = of_queries_and_keys(call, wanted.added);
  const double off = 4 * relative_error(call);
  ASSERT_LT(off, 2e-2);
  for (const bool with_logs : {true, false}) {
    const Gradients got = gradients_of(call, dout, with_logs);
    expect_near(got.q, dq, off);
    expect_near(got.k, dk, off);
    expect_near(got.v, wanted.v, off);
    if (sinks.empty()) continue;
    Tensor<double> of_heads({4});
    for (std::int64_t b = 0; b < 2; ++b) {
      for (std::int64_t h = 0; h < 4; ++h) of_heads(h) += wanted.sinks(b, h);
    }
    expect_near(got.sinks, of_heads, off);
  }
}

TEST(SelfExtendBackward, IsThatOfTheDefinition) {
  for (const auto& [window, group] : {std::pair(8, 3), {1, 64}, {40, 2}, {13, 1}}) {
    SCOPED_TRACE(std::to_string(window) + " " + std::to_string(group));
    Case call{.extend = {.window = window, .group = group}};
    call.make();
    expect_gradients(call);
  }
}

TEST(SelfExtendBackward, HasTheGradientsOfSinks) {
  Case call;
  const double sinks[] = {0.5, -1, 2, 0};
  call.options.sinks = sinks;
  call.make();
  expect_gradients(call);
}

// Beyond 32 the operator recomputes the log-sum-exp of its own keys: shares must not depend on it.
TEST(SelfExtendBackward, TakesLargeScores) {
  Case call{.size = 30};
  call.make();
  Tensor<float> out({2, 4, 40, kValueDim}), logs({2, 2, 4, 40});
  self_extend_attention(call.q, call.k, call.v, out.view(), call.extend, call.options, logs.view());
  ASSERT_GT(logs(1, 0, 0, 39), 32);
  expect_gradients(call);
}

TEST(SelfExtendBackward, IsOfSomeArraysWhereOthersAreNotWanted) {
  Case call;
  call.make();
  const Tensor<float> dout = random_array({2, 4, 40, kValueDim}, 4);
  const Gradients all = gradients_of(call, dout, true);
  Tensor<float> out({2, 4, 40, kValueDim}), dv(call.v.shape());
  self_extend_attention(call.q, call.k, call.v, out.view(), call.extend, call.options);
  self_extend_backward(call.q, call.k, call.v, out, dout, {.v = dv, .bias = {}}, call.extend,
                       call.options);
  for (std::int64_t i = 0; i < dv.count(); ++i) EXPECT_EQ(dv.data()[i], all.v.data()[i]);
}

TEST(SelfExtendBackward, NamesTheArgumentAtFault) {
  Case call;
  call.make();
  const Tensor<float> out({2, 4, 40, kValueDim}), narrow({2, 4, 40, 3}), logs({2, 4, 40});
  Tensor<float> dq(call.q.shape()), mask({40, 40});
  const auto refused = [&](const char* name, const Tensor<float>& dout,
                           const AttentionGradients<float>& wanted, View<const float> given) {
    expect_error(std::string("self_extend_backward.") + name, [&] {
      self_extend_backward(call.q, call.k, call.v, out, dout, wanted, call.extend, call.options,
                           given);
    });
  };
  refused("dout", narrow, {.q = dq, .bias = {}}, {});
  refused("gradients", out, {.bias = {}, .mask = mask}, {});
  refused("log_sum_exps", out, {.q = dq, .bias = {}}, logs.view());
}

}  // namespace
}  // namespace sextant::self_extend_test
