// What tests of content terms share: a call of the operator drawn at random, the formula written
// out as three loops, and gradients against central differences.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "sextant/attention.h"
#include "sextant/core/random.h"
#include "sextant/schemes/scheme.h"
#include "support/error_of.h"

namespace sextant::testing {

inline Tensor<double> normal(const Shape& shape, NumpyRandom& random, double deviation = 1) {
  Tensor<double> x(shape);
  for (double& value : x.span()) value = deviation * random.normal();
  return x;
}

// Which pair: the places of query and key in their sequence, own = the query's place as a key.
struct Pair {
  std::int64_t batch, head, key_head, query, own, key;
  std::int64_t begin;  // of the sequence in its batch row
};

// A call with 2 batch rows, 4 query heads on 2 key heads, head_dim 3, 4 queries and 7 keys that
// were cached up to different lengths, a window, a mask and sinks: queries stand at p > 0.
struct ContentCall {
  explicit ContentCall(std::uint32_t seed, bool causal_only) {
    NumpyRandom random(seed);
    q = normal({2, 4, 4, 3}, random);
    k = normal({2, 2, 7, 3}, random);
    v = normal({2, 2, 7, 3}, random);
    dout = normal({2, 4, 4, 3}, random);
    mask = Tensor<bool>({2, 1, 4, 7});
    for (bool& seen : mask.span()) seen = random.uniform() < 0.85;
    options.causal = causal_only ? Causal::at_offsets : Causal::none;
    options.query_offsets = offsets;
    options.key_lengths = lengths;
    options.window = {4, 2};
    options.mask = BoolMask(mask.view());
    options.sinks = sinks;
  }
  ContentCall(const ContentCall&) = delete;
  ContentCall& operator=(const ContentCall&) = delete;

  bool sees(const Pair& p) const {
    const bool ahead = p.key > p.own;
    const bool causal = options.causal.value_or(Causal::none) != Causal::none;
    const Window w = options.window;
    return p.key < lengths[static_cast<std::size_t>(p.batch)] && !(causal && ahead) &&
           (w.left < 0 || p.own - p.key <= w.left) && (w.right < 0 || p.key - p.own <= w.right) &&
           (mask.count() == 0 || mask(p.batch, 0, p.query, p.key));
  }
  double dot(const Pair& p) const {
    double sum = 0;
    for (std::int64_t d = 0; d < 3; ++d) {
      sum += q(p.batch, p.head, p.query, d) * k(p.batch, p.key_head, p.key, d);
    }
    return sum;
  }

  Tensor<double> q, k, v, dout;
  Tensor<bool> mask;
  std::vector<std::int64_t> offsets{3, 1}, lengths{7, 5};
  std::vector<double> sinks{0.5, -1, 0, 2};
  AttentionOptions<double> options;
};

// What the paper adds to a visible pair's score, and to channel c of its value.
using PairTerm = std::function<double(const ContentCall&, const Pair&)>;
using PairValue = std::function<double(const Pair&, std::int64_t c)>;

struct Naive {
  Tensor<double> output, weights;
};
inline Naive naive_attention(const ContentCall& call, double scale, const PairTerm& term,
                             const PairValue& value = nullptr) {
  Naive made{Tensor<double>(call.q.shape()), Tensor<double>({2, 4, 4, 7})};
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t h = 0; h < 4; ++h) {
      for (std::int64_t i = 0; i < 4; ++i) {
        const auto pair = [&](std::int64_t j) {
          return Pair{b, h, h / 2, i, i + call.offsets[static_cast<std::size_t>(b)], j, 0};
        };
        std::vector<double> e(7);
        double sum =
            call.options.sinks.empty() ? 0 : std::exp(call.sinks[static_cast<std::size_t>(h)]);
        for (std::int64_t j = 0; j < 7; ++j) {
          if (!call.sees(pair(j))) continue;
          double score = scale * call.dot(pair(j)) + term(call, pair(j));
          const double cap = call.options.softcap;
          if (cap > 0) score = cap * std::tanh(score / cap);
          sum += e[static_cast<std::size_t>(j)] = std::exp(score);
        }
        for (std::int64_t j = 0; j < 7; ++j) {
          const double p =
              e[static_cast<std::size_t>(j)] == 0 ? 0 : e[static_cast<std::size_t>(j)] / sum;
          made.weights(b, h, i, j) = p;
          for (std::int64_t c = 0; c < 3; ++c) {
            made.output(b, h, i, c) +=
                p * (call.v(b, h / 2, j, c) + (value && p > 0 ? value(pair(j), c) : 0));
          }
        }
      }
    }
  }
  return made;
}

inline void expect_near(const Tensor<double>& got, const Tensor<double>& expected, double most) {
  ASSERT_EQ(got.shape(), expected.shape());
  for (std::int64_t n = 0; n < got.count(); ++n) {
    ASSERT_NEAR(got.data()[n], expected.data()[n], most) << "number " << n;
  }
}

// Sums of some thirty products and exponentials of numbers below 30: 2^-53 * 30 * 30 is 1e-13.
constexpr double kFloat64Tolerance = 1e-12;

// The operator with the term gives the three loops' output and weights, with and without a softcap,
// and in float32 what float32 inputs allow.
inline void expect_forward(ContentCall& call, const ScoreTerm& content, double scale,
                           const PairTerm& term, const PairValue& value = nullptr) {
  for (const double softcap : {0.0, 2.5}) {
    SCOPED_TRACE("softcap " + std::to_string(softcap));
    call.options.softcap = softcap;
    call.options.terms = {&content};
    const Naive expected = naive_attention(call, scale, term, value);
    Tensor<double> out(call.q.shape());
    attention<double>(call.q, call.k, call.v, out, call.options);
    ASSERT_NO_FATAL_FAILURE(expect_near(out, expected.output, kFloat64Tolerance));
    ASSERT_NO_FATAL_FAILURE(expect_near(attention_weights<double>(call.q, call.k, call.options),
                                        expected.weights, kFloat64Tolerance));
  }
  call.options.softcap = 0;
}

inline std::shared_ptr<const ScoreTerm> term_of(std::string_view scheme,
                                                const SchemeRequest& request) {
  return std::get<std::shared_ptr<const ScoreTerm>>(find_scheme(scheme).make(request));
}

// sum of dout * out, the loss of the gradients below.
inline double loss_of(const ContentCall& call) {
  Tensor<double> out(call.q.shape());
  attention<double>(call.q, call.k, call.v, out, call.options);
  double sum = 0;
  for (std::int64_t n = 0; n < out.count(); ++n) sum += out.data()[n] * call.dout.data()[n];
  return sum;
}

// The operator's gradients of q, k, v and of the scheme's weights against central differences. With
// h = 2^-17 their error is h^2 / 6 times a third derivative (some hundreds here) and 2^-53 / h
// times the loss: both below 1e-8; `most` leaves room for the sums.
inline void expect_gradients(std::string_view scheme, SchemeRequest request, SchemeWeights weights,
                             ContentCall& call, double most = 2e-7) {
  request.weights = &weights;
  for (const double softcap : {0.0, 2.5}) {
    SCOPED_TRACE("softcap " + std::to_string(softcap));
    call.options.softcap = softcap;
    std::shared_ptr<const ScoreTerm> term = term_of(scheme, request);
    call.options.terms = {term.get()};
    Tensor<double> out(call.q.shape());
    attention<double>(call.q, call.k, call.v, out, call.options);
    Tensor<double> dq(call.q.shape()), dk(call.k.shape()), dv(call.v.shape());
    Tensor<double> flat({1, term->needs().parameters});
    AttentionGradients<double> wanted{
        .q = dq.view(), .k = dk.view(), .v = dv.view(), .terms = {flat.view().select(0, 0)}};
    attention_backward<double>(call.q, call.k, call.v, out, call.dout, wanted, call.options);
    const SchemeWeights learned = find_scheme(scheme).backward(request, flat.view());

    const auto compare = [&](const std::string& name, Tensor<double>& x, const Tensor<double>& dx,
                             bool is_weight) {
      SCOPED_TRACE(name);
      ASSERT_EQ(x.shape(), dx.shape());
      for (std::int64_t n = 0; n < x.count(); ++n) {
        constexpr double kStep = 0x1p-17;
        const double before = x.data()[n];
        double loss[2];
        for (int side = 0; side < 2; ++side) {
          x.data()[n] = before + (side == 0 ? kStep : -kStep);
          if (is_weight) {
            term = term_of(scheme, request);
            call.options.terms = {term.get()};
          }
          loss[side] = loss_of(call);
        }
        x.data()[n] = before;
        ASSERT_NEAR((loss[0] - loss[1]) / (2 * kStep), dx.data()[n], most) << "number " << n;
      }
      if (is_weight) {
        term = term_of(scheme, request);
        call.options.terms = {term.get()};
      }
    };
    ASSERT_NO_FATAL_FAILURE(compare("q", call.q, dq, false));
    ASSERT_NO_FATAL_FAILURE(compare("k", call.k, dk, false));
    ASSERT_NO_FATAL_FAILURE(compare("v", call.v, dv, false));
    for (auto& [name, values] : weights) {
      ASSERT_NO_FATAL_FAILURE(compare(name, values, learned.at(name), true));
    }
    // The same bits whatever the threads.
    Tensor<double> again({1, term->needs().parameters});
    AttentionGradients<double> only;
    only.terms = {again.view().select(0, 0)};
    for (const int threads : {1, 3}) {
      AttentionOptions<double> options = call.options;
      options.threads = threads;
      attention_backward<double>(call.q, call.k, call.v, out, call.dout, only, options);
      for (std::int64_t n = 0; n < flat.count(); ++n) {
        ASSERT_EQ(again.data()[n], flat.data()[n]) << threads << " threads";
      }
    }
  }
  call.options.softcap = 0;
}

// What the term says to a call.
inline std::string refusal_of(const ScoreTerm& content, ContentCall& call) {
  call.options.terms = {&content};
  return error_of([&] { loss_of(call); });
}

inline SchemeRequest content_request(std::span<const std::int64_t> positions,
                                     std::map<std::string, std::string> parameters = {}) {
  SchemeRequest request;
  request.width = 6;
  request.heads = 4;
  request.head_dim = 3;
  request.positions = positions;
  request.parameters = std::move(parameters);
  return request;
}

}  // namespace sextant::testing
