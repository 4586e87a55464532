// Dropout of weights: which are dropped, what the others become, and what it does not change.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "core/arrays/converted.h"
#include "kernels/rotate/every_target.h"
#include "reference/attention.h"
#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/statistics.h"
#include "sextant/core/random.h"
#include "sextant/schemes/scheme.h"
#include "support/error_of.h"

namespace sextant {
namespace {

constexpr double kRate = 0.3;
constexpr std::uint64_t kSeed = 0x123456789abcdef0;

template <class T>
Tensor<T> normal(const Shape& shape, std::uint32_t seed) {
  NumpyRandom random(seed);
  Tensor<T> x(shape);
  for (T& value : x.span()) value = static_cast<T>(static_cast<float>(random.normal()));
  return x;
}

template <class T>
AttentionOptions<T> dropping() {
  AttentionOptions<T> options;
  options.causal = Causal::bottom_right;
  options.dropout = kRate;
  options.dropout_seed = kSeed;
  return options;
}

template <class T>
void compare_with_the_formula(std::int64_t q_len, std::int64_t k_len, double tolerance,
                              std::optional<std::int64_t> first_row = {}) {
  SCOPED_TRACE(std::to_string(q_len) + " queries, " + std::to_string(k_len) + " keys");
  const auto q = normal<T>(Shape{2, 4, q_len, 16}, 1), k = normal<T>(Shape{2, 2, k_len, 16}, 2);
  const auto v = normal<T>(Shape{2, 2, k_len, 5}, 3);
  Tensor<T> out(Shape{2, 4, q_len, 5});
  auto options = dropping<T>();
  options.dropout_first_row = first_row;
  attention(q, k, v, out, options);
  const auto truth =
      reference::attend({.q = converted<double>(q),
                         .k = converted<double>(k),
                         .v = converted<double>(v),
                         .sees = [&](auto, auto, auto i, auto j) { return j <= i + k_len - q_len; },
                         .added = {},
                         .scale = 0.25,
                         .kept =
                             [&](auto b, auto h, auto i, auto j) {
                               const std::int64_t sequence = first_row ? *first_row + b * q_len : b;
                               return reference::kept_weight(kRate, kSeed, sequence * 4 + h, i, j);
                             }});
  for (std::int64_t n = 0; n < out.count(); ++n) {
    ASSERT_NEAR(static_cast<double>(out.data()[n]), truth.output.data()[n], tolerance) << n;
  }
}

// Weights are at most 1 / 0.7 and values some units: float32 adds up some roundings of 2^-24.
TEST(AttentionDropout, IsTheFormulaOnEveryInstructionSet) {
  on_every_target([] {
    for (const std::int64_t q_len : {1, 3, 64, 77, 300}) {
      compare_with_the_formula<float>(q_len, 300, 5e-6);
    }
    compare_with_the_formula<float>(5, 5, 5e-6);
    compare_with_the_formula<bfloat16>(70, 131, 0x1p-7);
    compare_with_the_formula<double>(33, 45, 1e-14);
    compare_with_the_formula<float>(3, 300, 5e-6, 0);
    compare_with_the_formula<float>(77, 131, 5e-6, std::int64_t{1} << 40);
    compare_with_the_formula<double>(33, 45, 1e-14, 70);
  });
}

TEST(AttentionDropout, DropsTheShareOfItsRate) {
  const std::int64_t n = 512;
  Tensor<float> zeros(Shape{1, 2, n, 8}), values(Shape{1, 2, n, 1}), out(Shape{1, 2, n, 1});
  for (float& value : values.span()) value = 1;
  for (const double rate : {0.1, 0.5, 0.9}) {
    AttentionOptions<float> options;
    options.dropout = rate;
    attention(zeros, zeros, values, out, options);
    double sum = 0;
    for (const float row : out.span()) sum += static_cast<double>(row);
    const auto pairs = static_cast<double>(2 * n * n);
    const double deviation = std::sqrt(rate * (1 - rate) / pairs) / (1 - rate);
    EXPECT_NEAR(sum / static_cast<double>(2 * n), 1, 5 * deviation) << rate;
  }
}

TEST(AttentionDropout, DoesNotDependOnThreadsOrPacking) {
  const auto q = normal<float>(Shape{1, 2, 700, 8}, 1), k = normal<float>(Shape{1, 2, 700, 8}, 2);
  Tensor<float> one(q.shape()), four(q.shape());
  const std::vector<std::int64_t> segments{0, 350, 700};
  auto options = dropping<float>();
  options.segments = segments;
  options.threads = 1;
  attention(q, k, k, one, options);
  options.threads = 4;
  attention(q, k, k, four, options);
  EXPECT_TRUE(same_bits(View<const float>(one), View<const float>(four)));
  // The two sequences as two batch rows.
  Tensor<float> q2(Shape{2, 2, 350, 8}), k2(q2.shape()), batch(q2.shape());
  for (std::int64_t s = 0; s < 2; ++s) {
    for (std::int64_t h = 0; h < 2; ++h) {
      for (std::int64_t n = 0; n < 350 * 8; ++n) {
        (&q2(s, h, 0, 0))[n] = (&q(0, h, 350 * s, 0))[n];
        (&k2(s, h, 0, 0))[n] = (&k(0, h, 350 * s, 0))[n];
      }
    }
  }
  attention(q2, k2, k2, batch, dropping<float>());
  for (std::int64_t s = 0; s < 2; ++s) {
    EXPECT_TRUE(same_bits(View<const float>(batch).narrow(0, s, 1),
                          View<const float>(one).narrow(2, 350 * s, 350)));
  }
}

// Three packed sequences in one call, and the last two in a call of their own.
TEST(AttentionDropout, OfAPartOfABatchIsThatOfTheBatch) {
  const Shape shape{1, 2, 300, 8};
  const auto q = normal<float>(shape, 1), k = normal<float>(shape, 2), v = normal<float>(shape, 3),
             dout = normal<float>(shape, 4);
  const auto run = [&](std::int64_t first, const std::vector<std::int64_t>& segments) {
    const auto part = [&](const Tensor<float>& x) {
      return x.view().narrow(2, first, segments.back());
    };
    auto options = dropping<float>();
    options.segments = segments;
    options.dropout_first_row = 1000 + first;
    const Shape own{1, 2, segments.back(), 8};
    std::vector<Tensor<float>> to;
    for (int i = 0; i < 4; ++i) to.emplace_back(own);
    attention(part(q), part(k), part(v), to[0], options);
    attention_backward<float>(part(q), part(k), part(v), to[0], part(dout),
                              {.q = to[1], .k = to[2], .v = to[3]}, options);
    return to;
  };
  const auto whole = run(0, {0, 70, 165, 300}), part = run(70, {0, 95, 230});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_TRUE(
        same_bits(View<const float>(whole[i]).narrow(2, 70, 230), View<const float>(part[i])))
        << i;
  }
}

TEST(AttentionDropout, LeavesSumsAndCallsWithoutIt) {
  const auto q = normal<float>(Shape{1, 1, 40, 8}, 1);
  Tensor<float> with(q.shape()), without(q.shape()), off(q.shape());
  Tensor<float> sums(Shape{1, 1, 40}), sums_without(sums.shape());
  auto options = dropping<float>();
  attention(q, q, q, with, options, sums);
  options.dropout = 0;
  attention(q, q, q, off, options, sums_without);
  options.dropout_seed = 0;
  attention(q, q, q, without, options);
  EXPECT_TRUE(same_bits(View<const float>(sums), View<const float>(sums_without)));
  EXPECT_TRUE(same_bits(View<const float>(off), View<const float>(without)));
  EXPECT_FALSE(same_bits(View<const float>(with), View<const float>(without)));
}

// The first key that the only query drops, and the first that it keeps, hold NaN.
TEST(AttentionDropout, ValuesOfDroppedKeysAreNotRead) {
  const auto q = normal<float>(Shape{1, 1, 1, 8}, 1), k = normal<float>(Shape{1, 1, 50, 8}, 2);
  auto v = normal<float>(Shape{1, 1, 50, 2}, 3);
  std::int64_t dropped = 0, kept = 0;
  while (reference::kept_weight(kRate, kSeed, 0, 0, dropped) != 0) ++dropped;
  while (reference::kept_weight(kRate, kSeed, 0, 0, kept) == 0) ++kept;
  Tensor<float> out(Shape{1, 1, 1, 2}), expected(out.shape());
  attention(q, k, v, expected, dropping<float>());
  v(0, 0, dropped, 0) = std::numeric_limits<float>::quiet_NaN();
  attention(q, k, v, out, dropping<float>());
  EXPECT_NEAR(out(0, 0, 0, 0), expected(0, 0, 0, 0), 1e-6);
  v(0, 0, kept, 0) = std::numeric_limits<float>::quiet_NaN();
  attention(q, k, v, out, dropping<float>());
  EXPECT_TRUE(std::isnan(out(0, 0, 0, 0)));
  EXPECT_EQ(out(0, 0, 0, 1), expected(0, 0, 0, 1));
}

// Blocks of many queries and keys, whose results float64 gives row by row.
TEST(AttentionDropout, GradientsOfTilesAreThoseOfRows) {
  const Shape shape{1, 2, 200, 8};
  const auto q = normal<double>(shape, 1), k = normal<double>(shape, 2),
             v = normal<double>(shape, 3);
  const auto dout = normal<double>(shape, 4);
  Tensor<double> out(shape), dq(shape), dk(shape), dv(shape);
  attention(q, k, v, out, dropping<double>());
  attention_backward<double>(q, k, v, out, dout, {.q = dq, .k = dk, .v = dv}, dropping<double>());
  on_every_target([&] {
    const auto qf = converted<float>(q), kf = converted<float>(k), vf = converted<float>(v);
    const auto df = converted<float>(dout);
    Tensor<float> of(shape), dqf(shape), dkf(shape), dvf(shape);
    attention(qf, kf, vf, of, dropping<float>());
    attention_backward<float>(qf, kf, vf, of, df, {.q = dqf, .k = dkf, .v = dvf},
                              dropping<float>());
    const auto near = [](const Tensor<float>& got, const Tensor<double>& wanted) {
      for (std::int64_t n = 0; n < got.count(); ++n) {
        ASSERT_NEAR(static_cast<double>(got.data()[n]), wanted.data()[n], 2e-5) << n;
      }
    };
    near(dqf, dq);
    near(dkf, dk);
    near(dvf, dv);
  });
}

TEST(AttentionDropout, OfTermsWithValuesHasTheGradientsOfDifferences) {
  const Shape shape{1, 1, 6, 4};
  auto q = normal<double>(shape, 1), k = normal<double>(shape, 2), v = normal<double>(shape, 3);
  const auto dout = normal<double>(shape, 4);
  Tensor<double> out(shape), dq(shape), dk(shape), dv(shape);
  auto options = dropping<double>();
  const auto loss = [&] {
    attention(q, k, v, out, options);
    double sum = 0;
    for (std::int64_t n = 0; n < out.count(); ++n) sum += out.data()[n] * dout.data()[n];
    return sum;
  };
  const auto expect_differences = [&] {
    loss();
    attention_backward<double>(q, k, v, out, dout, {.q = dq, .k = dk, .v = dv}, options);
    const auto compare = [&](Tensor<double>& x, const Tensor<double>& gradient) {
      for (std::int64_t n = 0; n < x.count(); ++n) {
        const double before = x.data()[n], step = 1e-5;
        x.data()[n] = before + step;
        const double above = loss();
        x.data()[n] = before - step;
        const double below = loss();
        x.data()[n] = before;
        ASSERT_NEAR((above - below) / (2 * step), gradient.data()[n], 1e-8) << n;
      }
    };
    compare(q, dq);
    compare(k, dk);
    compare(v, dv);
  };
  expect_differences();
  // A term that adds to values too, and what it learns.
  const std::vector<std::int64_t> ids{0, 1, 2, 3, 4, 5};
  SchemeRequest request;
  request.width = request.head_dim = 4;
  request.heads = 1;
  request.positions = ids;
  const Scheme& scheme = find_scheme("shaw");
  SchemeWeights weights = scheme.initial_weights(request);
  request.weights = &weights;
  auto shaw = std::get<std::shared_ptr<const ScoreTerm>>(scheme.make(request));
  ASSERT_GT(shaw->needs().value_dim, 0);
  options.terms = {shaw.get()};
  expect_differences();
  Tensor<double> learned(Shape{1, shaw->needs().parameters});
  loss();
  attention_backward<double>(q, k, v, out, dout, {.terms = {learned.view().select(0, 0)}}, options);
  const SchemeWeights gradients = scheme.backward(request, learned);
  for (auto& [name, values] : weights) {
    for (std::int64_t n = 0; n < values.count(); ++n) {
      const auto loss_at = [&, &of_name = values](double step) {
        of_name.data()[n] += step;
        shaw = std::get<std::shared_ptr<const ScoreTerm>>(scheme.make(request));
        options.terms = {shaw.get()};
        const double sum = loss();
        of_name.data()[n] -= step;
        return sum;
      };
      ASSERT_NEAR((loss_at(0x1p-14) - loss_at(-0x1p-14)) / 0x1p-13, gradients.at(name).data()[n],
                  1e-6)
          << name << " " << n;
    }
  }
}

TEST(AttentionDropout, IsRefusedOutsideItsRangeAndWhereNothingIsWeighted) {
  const auto q = normal<float>(Shape{1, 1, 4, 8}, 1);
  Tensor<float> out(q.shape());
  AttentionOptions<float> options;
  for (const double rate : {-0.1, 1.0, 2.0, std::nan("")}) {
    options.dropout = rate;
    expect_error("attention.dropout", [&] { attention(q, q, q, out, options); });
  }
  options.dropout = 0.5;
  for (const std::int64_t row : {std::int64_t{-1}, (std::int64_t{1} << 53) + 1}) {
    options.dropout_first_row = row;
    expect_error("attention.dropout_first_row", [&] { attention(q, q, q, out, options); });
  }
  options.dropout_first_row = {};
  expect_error("attention_weights.dropout", [&] { attention_weights(q, q, options); });
  expect_error("attention_statistics.dropout", [&] { attention_statistics(q, q, options); });
}

}  // namespace
}  // namespace sextant
