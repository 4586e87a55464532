// Selective attention against the paper's definition in float64, forward and backward, its laws,
// and what is refused.
#include "sextant/attention/selective_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attention/merged/selective_attention_cases.h"
#include "support/error_of.h"

namespace sextant::self_extend_test {
namespace {

Tensor<float> result_of(const SelectiveCase& call, View<float> logs = {}) {
  Tensor<float> out({2, 4, call.length, kValueDim});
  selective_attention(call.q, call.k, call.v, out.view(), call.selective, call.options, logs);
  return out;
}

void expect_equal(const Tensor<float>& got, const Tensor<float>& wanted) {
  for (std::int64_t i = 0; i < got.count(); ++i) ASSERT_EQ(got.data()[i], wanted.data()[i]) << i;
}

void expect_defined(const SelectiveCase& call) {
  const Definition defined(call);
  const Tensor<double> wanted = reference::attend(defined.all).output;
  const double tolerance = defined.relative_error(call.scale()) * largest(wide(call.v));
  ASSERT_LT(tolerance, 0.02);
  ASSERT_GT(largest(defined.f), 1);
  const Tensor<float> got = result_of(call);
  for (std::int64_t i = 0; i < got.count(); ++i) {
    ASSERT_NEAR(got.data()[i], wanted.data()[i], tolerance) << i;
  }
}

TEST(SelectiveAttention, IsItsDefinition) {
  for (const bool rotates : {false, true}) {
    SelectiveCase call;
    if (rotates) call.options.rotation = &long_table();
    expect_defined(call);
    call.selective.selection_head = 0;
    call.options.causal = Causal::bottom_right;
    call.options.softcap = 0.4;
    call.options.scale = 0.7;
    expect_defined(call);
  }
}

TEST(SelectiveAttention, WithoutPositiveScoresIsCausalAttention) {
  SelectiveCase call(1);
  for (float& x : call.q.span()) x = std::fabs(x);
  for (float& x : call.k.span()) x = -std::fabs(x);
  const double sinks[] = {0.5, -1, 2, 0};
  call.options.sinks = sinks;
  Tensor<float> plain({2, 4, kLength, kValueDim}), logs({2, 4, kLength}), sums({2, 4, kLength});
  attention<float>(call.q, call.k, call.v, plain.view(), call.options, sums.view());
  expect_equal(result_of(call, logs.view()), plain);
  expect_equal(logs, sums);
}

TEST(SelectiveAttention, DoesNotLookAhead) {
  SelectiveCase call(1);
  const Tensor<float> whole = result_of(call);
  const std::int64_t rows = 300;
  SelectiveCase changed(1);
  for (std::int64_t h = 0; h < 4; ++h) {
    for (std::int64_t i = rows; i < kLength; ++i) {
      changed.q(0, h, i, 1) = 9;
      changed.k(0, h / 2, i, 0) = std::numeric_limits<float>::quiet_NaN();
      changed.v(0, h / 2, i, 0) = -7;
    }
  }
  const Tensor<float> got = result_of(changed);
  for (std::int64_t h = 0; h < 4; ++h) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t c = 0; c < kValueDim; ++c) {
        ASSERT_EQ(got(0, h, i, c), whole(0, h, i, c)) << i;
      }
    }
  }
}

// Every score is 40: what any two tokens see of others is hidden from the third.
TEST(SelectiveAttention, NeverHidesTheFirstKeyNorTheTokenItself) {
  SelectiveCase call;
  for (float& x : call.q.span()) x = 1;
  for (float& x : call.k.span()) x = 1;
  call.options.scale = 40.0 / kDim;
  const Tensor<float> got = result_of(call);
  for (std::int64_t i = 2; i < kLength; ++i) {
    // Visible are the first token, the one before, which none has hidden yet, and its own.
    const double wanted =
        (double{call.v(1, 0, 0, 0)} + double{call.v(1, 0, i - 1, 0)} + double{call.v(1, 0, i, 0)}) /
        3;
    ASSERT_NEAR(got(1, 1, i, 0), wanted, 0x1p-24 * 16) << i;  // sums of three below 4
  }
}

TEST(SelectiveAttention, TakesViewsAndAnyThreads) {
  SelectiveCase call;
  call.options.threads = 1;
  const Tensor<float> one = result_of(call);
  call.options.threads = 2;
  expect_equal(result_of(call), one);
  Tensor<float> q({2, kLength, 4, kDim}), out({2, kLength, 4, kValueDim});
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t h = 0; h < 4; ++h) {
      for (std::int64_t n = 0; n < kLength * kDim; ++n) {
        q(b, n / kDim, h, n % kDim) = call.q(b, h, n / kDim, n % kDim);
      }
    }
  }
  selective_attention(q.view().transpose(1, 2), call.k, call.v, out.view().transpose(1, 2),
                      call.selective, call.options);
  expect_equal(copy_of(out.view().transpose(1, 2)), one);
}

TEST(SelectiveAttention, TakesEmptyArrays) {
  const SelectiveCase call(1, 0);
  Tensor<float> dk(call.k.shape());
  const Tensor<float> out = result_of(call);
  selective_attention_backward(call.q, call.k, call.v, out, out, {.k = dk, .bias = {}},
                               call.selective, call.options);
}

struct SelectiveGradients {
  Tensor<float> q{{2, 4, kLength, kDim}}, k{{2, 2, kLength, kDim}}, v{{2, 2, kLength, kValueDim}},
      sinks{{4}};
};

SelectiveGradients selective_gradients(const SelectiveCase& call, const Tensor<float>& dout) {
  Tensor<float> logs({2, 4, kLength});
  const Tensor<float> out = result_of(call, logs.view());
  SelectiveGradients got;
  AttentionGradients<float> wanted{.q = got.q, .k = got.k, .v = got.v, .bias = {}};
  if (!call.options.sinks.empty()) wanted.sinks = got.sinks;
  selective_attention_backward(call.q, call.k, call.v, out, dout, wanted, call.selective,
                               call.options, logs);
  return got;
}

TEST(SelectiveAttentionBackward, IsThatOfTheDefinition) {
  const double sinks[] = {0.5, -1, 2, 0};
  const Tensor<float> dout = random_array({2, 4, kLength, kValueDim}, 4);
  for (const bool rotates : {false, true}) {
    SCOPED_TRACE(rotates);
    SelectiveCase call;
    call.options.sinks = sinks;
    if (rotates) call.options.rotation = &long_table();
    const Definition defined(call);
    auto wanted = reference::attention_gradient<double>(
        defined.all, std::vector<double>(sinks, sinks + 4), wide(dout));
    Tensor<double> most_q(call.q.shape()), most_k(call.k.shape());
    defined.add_through_f(wanted.added, true, call.scale(), most_q, most_k);
    defined.add_through_f(wanted.added, false, call.scale(), wanted.q, wanted.k);
    const double off = 4 * defined.relative_error(call.scale());
    const auto expect_near = [&](const Tensor<float>& got, const Tensor<double>& truth,
                                 double magnitude) {
      ASSERT_LT(off * magnitude, 0.1 * largest(truth));
      for (std::int64_t i = 0; i < got.count(); ++i) {
        ASSERT_NEAR(got.data()[i], truth.data()[i], off * magnitude) << i;
      }
    };
    const SelectiveGradients got = selective_gradients(call, dout);
    expect_near(got.q, turned(wanted.q, rotates, -1), largest(wanted.q) + largest(most_q));
    expect_near(got.k, turned(wanted.k, rotates, -1), largest(wanted.k) + largest(most_k));
    expect_near(got.v, wanted.v, largest(wanted.v));
    Tensor<double> sums({4});
    for (std::int64_t h = 0; h < 4; ++h) sums(h) = wanted.sinks(0, h) + wanted.sinks(1, h);
    expect_near(got.sinks, sums, largest(sums));
  }
}

TEST(SelectiveAttentionBackward, DoesNotDependOnThreads) {
  SelectiveCase call;
  const Tensor<float> dout = random_array({2, 4, kLength, kValueDim}, 4);
  call.options.threads = 1;
  const SelectiveGradients one = selective_gradients(call, dout);
  call.options.threads = 2;
  const SelectiveGradients two = selective_gradients(call, dout);
  expect_equal(two.q, one.q);
  expect_equal(two.k, one.k);
  expect_equal(two.v, one.v);
}

// Pairs of weight 0 that select nothing have no gradient, also where the key is infinite.
TEST(SelectiveAttentionBackward, ReadsNoKeyWithoutAGradient) {
  SelectiveCase call;
  const Tensor<float> dout = random_array({2, 4, kLength, kValueDim}, 4);
  for (std::int64_t n = 0; n < call.q.count(); n += kDim) {
    call.q.data()[n] = 1 + std::abs(call.q.data()[n]);
  }
  const auto with_key = [&](float channel) {
    for (std::int64_t head = 0; head < 2; ++head) call.k(0, head, 300, 0) = channel;
    return selective_gradients(call, dout);
  };
  const SelectiveGradients far = with_key(-1e5F);
  const SelectiveGradients got = with_key(-std::numeric_limits<float>::infinity());
  // The slices with infinities are computed in float64.
  const auto expect_near = [](const Tensor<float>& x, const Tensor<float>& wanted) {
    for (std::int64_t i = 0; i < x.count(); ++i) {
      ASSERT_NEAR(x.data()[i], wanted.data()[i], 1e-4) << i;
    }
  };
  expect_near(got.q, far.q);
  expect_near(got.k, far.k);
  expect_near(got.v, far.v);
}

TEST(SelectiveAttention, NamesTheOptionAtFault) {
  const auto refused = [](const char* name, const auto& change) {
    SelectiveCase call(1, 40);
    change(call);
    Tensor<float> out({2, 4, 40, kValueDim});
    expect_error(std::string("selective_attention.") + name, [&] {
      selective_attention(call.q, call.k, call.v, out.view(), call.selective, call.options);
    });
    for (const float x : out.span()) ASSERT_EQ(x, 0);  // nothing is written
  };
  using Call = SelectiveCase;
  refused("selection_head", [](Call& call) { call.selective.selection_head = -1; });
  refused("selection_head", [](Call& call) { call.selective.selection_head = 4; });
  refused("causal", [](Call& call) { call.options.causal = {}; });
  refused("causal", [](Call& call) { call.options.causal = Causal::at_lengths; });
  refused("dropout", [](Call& call) { call.options.dropout = 0.5; });
  refused("window", [](Call& call) { call.options.window.left = 3; });
  refused("k", [](Call& call) { call.k = random_array({2, 2, 41, kDim}, 2); });
  refused("v", [](Call& call) { call.v = random_array({2, 2, 41, kValueDim}, 2); });
  refused("rotation", [](Call& call) {
    static const RotationTable<float> few = rotary<float>({.head_dim = kDim, .base = kBase}, 39);
    call.options.rotation = &few;
  });
  const std::int64_t lengths[] = {40, 40}, offsets[] = {0, 0}, segments[] = {0, 40};
  refused("key_lengths", [&](Call& call) { call.options.key_lengths = lengths; });
  refused("query_offsets", [&](Call& call) { call.options.query_offsets = offsets; });
  refused("segments", [&](Call& call) { call.options.segments = segments; });
  const Tensor<float> mask({40, 40});
  refused("mask", [&](Call& call) { call.options.mask = mask.view(); });
  const DistanceBias bias;
  refused("bias", [&](Call& call) { call.options.bias = &bias; });
  const SelectiveCase call(1, 40);
  Tensor<float> few({2, 4, 39, kDim}), out({2, 4, 40, kValueDim});
  expect_error("selective_attention_backward.gradients.q", [&] {
    selective_attention_backward(call.q, call.k, call.v, out, out, {.q = few, .bias = {}},
                                 call.selective, call.options);
  });
}

}  // namespace
}  // namespace sextant::self_extend_test
