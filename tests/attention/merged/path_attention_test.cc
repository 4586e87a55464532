// PaTH attention against the product of Householder matrices in float64, forward and backward, its
// laws, and what is refused.
#include "sextant/attention/path_attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "attention/merged/path_attention_cases.h"
#include "support/error_of.h"

namespace sextant::path_attention_test {
namespace {

constexpr std::int64_t kLong = 2 * kBlock + 5;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

void expect_equal(const Tensor<float>& got, const Tensor<float>& wanted) {
  for (std::int64_t i = 0; i < got.count(); ++i) ASSERT_EQ(got.data()[i], wanted.data()[i]) << i;
}

void expect_near(const Tensor<float>& got, const Tensor<double>& wanted, double tolerance) {
  ASSERT_EQ(got.shape(), wanted.shape());
  for (std::int64_t i = 0; i < got.count(); ++i) {
    ASSERT_NEAR(static_cast<double>(got.data()[i]), wanted.data()[i], tolerance) << i;
  }
}

void expect_defined(const PathCase& call) {
  const Definition defined(call);
  Tensor<double> out, logs;
  defined.attend(out, logs);
  Tensor<float> got_logs({kBatch, kHeads, call.length});
  const Tensor<float> got = call.result(got_logs.view());
  const double off = defined.error_of_scores();
  ASSERT_LT(off, 1e-3);
  expect_near(got, out, (2 * off + 0x1p-20) * largest(defined.v));  // and a few roundings of sums
  expect_near(got_logs, logs, off + 0x1p-22 * largest(logs));
}

TEST(PathAttention, IsItsDefinition) {
  for (const std::int64_t length : {std::int64_t{1}, kBlock - 1, kBlock, kBlock + 1, kLong}) {
    SCOPED_TRACE(length);
    PathCase call(length);
    expect_defined(call);
    call.options.causal = Causal::bottom_right;
    call.options.scale = 0.7;
    call.options.sinks = kSinks;
    expect_defined(call);
  }
}

// Queries of the second group go through blocks of the first.
TEST(PathAttention, IsItsDefinitionBeyondAGroupOfBlocks) {
  expect_defined(PathCase(9 * kBlock + 3));
}

TEST(PathAttention, WithoutReflectionsIsCausalAttention) {
  PathCase call(kLong);
  for (float& b : call.beta.span()) b = 0;
  call.options.sinks = kSinks;
  Tensor<float> plain({kBatch, kHeads, kLong, kValueDim});
  attention<float>(call.q, call.k, call.v, plain.view(), call.options);
  expect_near(call.result(), wide(plain), 0x1p-20 * largest(wide(call.v)));
}

// Reflections along the first channel: its sign says whether a distance is odd.
TEST(PathAttention, OfEqualReflectionsTurnsWithTheDistance) {
  PathCase call(kLong);
  for (float& b : call.beta.span()) b = 2;
  for (std::int64_t n = 0; n < call.w.count(); ++n) call.w.data()[n] = n % kDim == 0 ? 1 : 0;
  PathCase turned(kLong);
  for (Tensor<float>* x : {&turned.q, &turned.k}) {
    for (std::int64_t n = 0; n < x->count(); n += kDim) {
      if (n / kDim % kLong % 2 == 1) x->data()[n] *= -1;
    }
  }
  Tensor<float> wanted({kBatch, kHeads, kLong, kValueDim});
  attention<float>(turned.q, turned.k, turned.v, wanted.view(), call.options);
  expect_near(call.result(), wide(wanted),
              2 * Definition(call).error_of_scores() * largest(wide(call.v)));
}

TEST(PathAttention, DoesNotLookAhead) {
  const std::int64_t rows = 100;  // within a block
  const Tensor<float> whole = PathCase(kLong).result();
  for (const float last : {3.0F, kNaN}) {
    PathCase changed(kLong);
    for (std::int64_t i = rows; i < kLong; ++i) {
      changed.q(0, 1, i, 1) = last;
      changed.k(0, 0, i, 0) = last;
      changed.v(0, 0, i, 0) = last;
      changed.w(0, 0, i, 2) = last;
      changed.beta(0, 0, i) = last;
    }
    const Tensor<float> got = changed.result();
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t i = 0; i < (h < 2 ? rows : kLong); ++i) {
        for (std::int64_t c = 0; c < kValueDim; ++c) ASSERT_EQ(got(0, h, i, c), whole(0, h, i, c));
      }
    }
  }
}

TEST(PathAttention, OfATokenWithoutNumbersIsNaNFromThereOn) {
  const auto expect_end = [](const auto& change) {
    PathCase call(kLong);
    change(call);
    Tensor<float> logs({kBatch, kHeads, kLong});
    const Tensor<float> out = call.result(logs.view());
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t i = 0; i < kLong; ++i) {
        ASSERT_EQ(std::isnan(out(1, h, i, 0)), h >= 2 && i >= 70) << h << ' ' << i;
        ASSERT_EQ(std::isnan(logs(1, h, i)), h >= 2 && i >= 70) << h << ' ' << i;
      }
    }
  };
  expect_end([](PathCase& call) { call.k(1, 1, 70, 3) = std::numeric_limits<float>::infinity(); });
  expect_end([](PathCase& call) { call.w(1, 1, 70, 3) = kNaN; });
  expect_end([](PathCase& call) { call.beta(1, 1, 70) = kNaN; });
}

struct AllGradients {
  explicit AllGradients(const PathCase& call)
      : q(call.q.shape()),
        k(call.k.shape()),
        v(call.v.shape()),
        w(call.w.shape()),
        beta(call.beta.shape()) {
    AttentionGradients<float> wanted{.q = q, .k = k, .v = v, .bias = {}};
    if (!call.options.sinks.empty()) wanted.sinks = sinks.view();
    path_attention_backward(call.q, call.k, call.v, call.result(), call.dout, wanted,
                            {.w = w, .beta = beta}, call.path(), call.options);
  }
  Tensor<float> q, k, v, w, beta, sinks{{kHeads}};
};

// In one channel of tokens at the borders of blocks, of the last batch row.
void expect_differences(Tensor<double> Definition::*member, const Tensor<float>& got,
                        const PathCase& call) {
  Definition defined(call);
  const Tensor<double> dout = wide(call.dout);
  Tensor<double>& x = defined.*member;
  const double tolerance = 4 * defined.error_of_scores() * largest(wide(got));
  const bool has_tokens = x.rank() > 1;
  const std::int64_t width = x.rank() == 4 ? x.size(3) : 1, rows = has_tokens ? x.size(2) : 1;
  for (std::int64_t n = has_tokens ? x.count() / kBatch : 0; n < x.count(); ++n) {
    const std::int64_t token = n / width % rows, place = token % kBlock;
    const bool at_border = place <= 1 || place == kBlock - 1 || place == 37 || token == rows - 1;
    if (!at_border || n % width != 3 % width) continue;
    const std::int64_t slice = has_tokens ? n / (x.count() / (kBatch * kKvHeads)) : -1;
    const double before = std::exchange(x.data()[n], x.data()[n] + 1e-5);
    const double ahead = defined.loss(dout, slice);
    x.data()[n] = before - 1e-5;
    const double wanted = (ahead - defined.loss(dout, slice)) / 2e-5;
    x.data()[n] = before;
    ASSERT_NEAR(got.data()[n], wanted, tolerance) << n;
  }
}

TEST(PathAttentionBackward, IsTheDifferenceOfTheDefinition) {
  for (const std::int64_t length : {std::int64_t{1}, kBlock + 1, kLong}) {
    SCOPED_TRACE(length);
    PathCase call(length);
    call.options.sinks = kSinks;
    const AllGradients got(call);
    expect_differences(&Definition::q, got.q, call);
    expect_differences(&Definition::k, got.k, call);
    expect_differences(&Definition::v, got.v, call);
    expect_differences(&Definition::w, got.w, call);
    expect_differences(&Definition::beta, got.beta, call);
    expect_differences(&Definition::sinks, got.sinks, call);
  }
}

// Of a call whose queries are in two groups. The loss moves as the gradients say, in a direction of
// all numbers.
TEST(PathAttentionBackward, GoesOnBeyondAGroupOfBlocks) {
  const PathCase call(9 * kBlock + 3);
  const AllGradients got(call);
  Definition ahead(call), back(call);
  double wanted = 0, magnitude = 0;
  const auto move = [&](Tensor<double> Definition::*member, const Tensor<float>& gradient,
                        std::uint32_t seed) {
    const Tensor<float> direction = random_array(gradient.shape(), seed);
    for (std::int64_t n = 0; n < gradient.count(); ++n) {
      const double step = double{direction.data()[n]}, slope = double{gradient.data()[n]};
      (ahead.*member).data()[n] += 1e-6 * step;
      (back.*member).data()[n] -= 1e-6 * step;
      wanted += step * slope;
      magnitude += std::abs(step * slope);
    }
  };
  move(&Definition::q, got.q, 11);
  move(&Definition::k, got.k, 12);
  move(&Definition::v, got.v, 13);
  move(&Definition::w, got.w, 14);
  move(&Definition::beta, got.beta, 15);
  const Tensor<double> dout = wide(call.dout);
  // Errors of the numbers are independent; far fewer than all of them count.
  EXPECT_NEAR((ahead.loss(dout) - back.loss(dout)) / 2e-6, wanted,
              ahead.error_of_scores() * magnitude);
}

TEST(PathAttention, HasTheSameBitsForAnyThreads) {
  PathCase call(9 * kBlock + 3);
  call.options.threads = 1;
  const Tensor<float> one = call.result();
  const AllGradients gradients(call);
  for (const int threads : {2, 3}) {
    call.options.threads = threads;
    expect_equal(call.result(), one);
    const AllGradients more(call);
    expect_equal(more.q, gradients.q);
    expect_equal(more.k, gradients.k);
    expect_equal(more.v, gradients.v);
    expect_equal(more.w, gradients.w);
    expect_equal(more.beta, gradients.beta);
  }
}

TEST(PathAttention, TakesViews) {
  const PathCase call(kLong);
  const auto moved = [](const Tensor<float>& x) { return copy_of(x.view().transpose(1, 2)); };
  const Tensor<float> q = moved(call.q), k = moved(call.k), v = moved(call.v), w = moved(call.w);
  const Tensor<float> beta = moved(call.beta);
  Tensor<float> out({kBatch, kLong, kHeads, kValueDim});
  const auto inside = [](const Tensor<float>& x) { return x.view().transpose(1, 2); };
  path_attention(inside(q), inside(k), inside(v), out.view().transpose(1, 2),
                 {.w = inside(w), .beta = inside(beta)}, call.options);
  expect_equal(copy_of(out.view().transpose(1, 2)), call.result());
}

// The factors of scores and of sums of values are rounded by 2^-8 each.
TEST(PathAttention, TakesRoundedProducts) {
  PathCase call(kLong);
  const Tensor<double> wanted = wide(call.result());
  call.options.matmul_precision = MatmulPrecision::bfloat16;
  const double off = 2 * 2 * 0x1p-8 * Definition(call).largest_score() + 2 * 0x1p-8;
  expect_near(call.result(), wanted, off * largest(wide(call.v)));
}

TEST(PathAttention, TakesEmptyArrays) {
  const PathCase call(0);
  EXPECT_EQ(call.result().count(), 0);
  EXPECT_EQ(AllGradients(call).q.count(), 0);
}

TEST(PathAttention, GivesOnlyTheGradientsThatAreWanted) {
  PathCase call(kLong);
  const AllGradients all(call);
  Tensor<float> dw(call.w.shape());
  path_attention_backward(call.q, call.k, call.v, call.result(), call.dout, {},
                          {.w = dw, .beta = {}}, call.path(), call.options);
  expect_equal(dw, all.w);
}

TEST(PathAttention, NamesTheOptionAtFault) {
  const auto refused = [](const char* name, const auto& change) {
    PathCase call(40);
    change(call);
    Tensor<float> out({kBatch, kHeads, 40, kValueDim});
    expect_error(std::string("path_attention.") + name, [&] {
      path_attention(call.q, call.k, call.v, out.view(), call.path(), call.options);
    });
    for (const float x : out.span()) ASSERT_EQ(x, 0);  // nothing is written
  };
  using Call = PathCase;
  refused("causal", [](Call& call) { call.options.causal = {}; });
  refused("causal", [](Call& call) { call.options.causal = Causal::at_offsets; });
  refused("softcap", [](Call& call) { call.options.softcap = 3; });
  refused("dropout", [](Call& call) { call.options.dropout = 0.5; });
  refused("window", [](Call& call) { call.options.window.left = 3; });
  refused("rotation", [](Call& call) { call.options.rotation = &self_extend_test::table(); });
  refused("k", [](Call& call) { call.k = random_array({kBatch, kKvHeads, 41, kDim}, 2); });
  refused("v", [](Call& call) { call.v = random_array({kBatch, kKvHeads, 41, kValueDim}, 2); });
  refused("w", [](Call& call) { call.w = random_array({kBatch, kHeads, 40, kDim}, 2); });
  refused("beta", [](Call& call) { call.beta = Tensor<float>({kBatch, kKvHeads, 39}); });
  const std::int64_t lengths[] = {40, 40}, segments[] = {0, 40};
  refused("key_lengths", [&](Call& call) { call.options.key_lengths = lengths; });
  refused("segments", [&](Call& call) { call.options.segments = segments; });
  const Tensor<float> mask({40, 40});
  refused("mask", [&](Call& call) { call.options.mask = mask.view(); });
  const DistanceBias bias;
  refused("bias", [&](Call& call) { call.options.bias = &bias; });

  PathCase call(40);
  const Tensor<float> out({kBatch, kHeads, 40, kValueDim});
  const auto backward_error = [&](const char* name, const AttentionGradients<float>& gradients,
                                  const PathGradients& of_path) {
    expect_error(std::string("path_attention_backward.") + name, [&] {
      path_attention_backward(call.q, call.k, call.v, out, call.dout, gradients, of_path,
                              call.path(), call.options);
    });
  };
  Tensor<float> few({kBatch, kHeads, 39, kDim});
  backward_error("gradients.q", {.q = few, .bias = {}}, {});
  backward_error("path_gradients.w", {}, {.w = few, .beta = {}});
  backward_error("path_gradients.w", {}, {.w = call.k, .beta = {}});  // overlaps k
  expect_error("path_attention.out", [&] {                            // overlaps w
    path_attention(call.q, call.k, call.v.view().narrow(3, 0, 1), call.q.view().narrow(3, 0, 1),
                   {.w = call.w, .beta = call.beta}, call.options);
  });
}

}  // namespace
}  // namespace sextant::path_attention_test
