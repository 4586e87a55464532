// Schemes that are biases, in attention with more keys than queries: against the formula written
// out, and the gradients of what they learn against central differences of it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "attention/strided.h"
#include "core/arrays/converted.h"
#include "reference/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/core/random.h"
#include "sextant/schemes/distance/t5.h"
#include "sextant/schemes/scheme.h"

namespace sextant::scheme_bias_test {
namespace {

constexpr std::int64_t kHeads = 4, kQueries = 5, kKeys = 11, kPast = kKeys - kQueries;
constexpr double kHidden = -std::numeric_limits<double>::infinity();

Tensor<double> drawn(const Shape& shape, NumpyRandom& random) {
  Tensor<double> values(shape);
  // Float32 numbers, so that every type has the same inputs.
  for (double& value : values.span())
    value = static_cast<double>(static_cast<float>(random.normal()));
  return values;
}

// What is added to a score, of ids.
using Formula = std::function<double(const SchemeWeights&, std::int64_t head, std::int64_t query,
                                     std::int64_t key)>;

struct Case {
  const char* scheme;
  std::map<std::string, std::string> parameters;
  Formula formula;
  std::vector<std::int64_t> ids{};  // of the keys; empty: 0, 1, ...
};

double psi(double c, double x) { return std::log(std::abs(c) * x + 1); }

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"alibi",
       {{"max_bias", "4"}},
       [](const SchemeWeights&, std::int64_t head, std::int64_t i, std::int64_t j) {
         return -std::exp2(-static_cast<double>(head + 1)) * std::abs(static_cast<double>(i - j));
       }},
      {"alibi",
       {{"direction", "causal"}},
       [](const SchemeWeights&, std::int64_t head, std::int64_t i, std::int64_t j) {
         return j > i
                    ? kHidden
                    : -std::exp2(-2.0 * static_cast<double>(head + 1)) * static_cast<double>(i - j);
       }},
      {"t5",
       {{"num_buckets", "8"}, {"max_distance", "7"}},
       [](const SchemeWeights& w, std::int64_t head, std::int64_t i, std::int64_t j) {
         return w.at("table")(t5_bucket(j - i, {.num_buckets = 8, .max_distance = 7}), head);
       }},
      {"kerple_log",
       {},
       [](const SchemeWeights& w, std::int64_t head, std::int64_t i, std::int64_t j) {
         return -w.at("p")(head) *
                std::log(1 + w.at("a")(head) * std::abs(static_cast<double>(i - j)));
       }},
      {"window",
       {{"left", "2"}, {"right", "0"}, {"dilation", "2"}},
       [](const SchemeWeights&, std::int64_t, std::int64_t i, std::int64_t j) {
         return i == j || i - j == 2 || i - j == 4 ? 0 : kHidden;
       }},
      {"chunk_mask",
       {{"chunk", "4"}},
       [](const SchemeWeights&, std::int64_t, std::int64_t i, std::int64_t j) {
         return i / 4 == j / 4 && j <= i ? 0 : kHidden;
       },
       {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4}},
      {"fire",
       {{"hidden", "5"}, {"threshold", "7.5"}},
       [](const SchemeWeights& w, std::int64_t head, std::int64_t i, std::int64_t j) {
         const double c = w.at("c")(0), least = 7.5 * w.at("threshold_multiplier")(0);
         const double x = psi(c, std::abs(static_cast<double>(i - j))) /
                          (psi(c, std::max(least, static_cast<double>(i))) + 1e-6);
         double sum = w.at("b2")(head);
         for (std::int64_t u = 0; u < 5; ++u) {
           sum += w.at("w2")(head, u) * std::max(0.0, w.at("w1")(u) * x + w.at("b1")(u));
         }
         return sum;
       },
       {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},  // padded by one to the left
      {"swin",
       {{"rows", "3"}, {"columns", "4"}},
       [](const SchemeWeights& w, std::int64_t head, std::int64_t i, std::int64_t j) {
         return w.at("table")((i / 4 - j / 4 + 2) * 7 + i % 4 - j % 4 + 3, head);
       }},
  };
  return all;
}

class SchemeBias : public ::testing::TestWithParam<std::size_t> {
 protected:
  SchemeBias() : what(cases()[GetParam()]) {
    ids = what.ids;
    for (std::int64_t id = 0; ids.size() < kKeys; ++id) ids.push_back(id);
    request.heads = kHeads;
    request.positions = ids;
    request.parameters = what.parameters;
    if (scheme().initial_weights != nullptr) {
      weights = scheme().initial_weights(request);
      for (auto& [name, values] : weights) {
        for (double& value : values.span()) value = 0.3 + std::abs(value);  // off KERPLE's limits
      }
      request.weights = &weights;
    }
    NumpyRandom random(3);
    call.q = drawn({2, kHeads, kQueries, 6}, random);
    call.k = drawn({2, 2, kKeys, 6}, random);
    call.v = drawn({2, 2, kKeys, 3}, random);
    dout = drawn({2, kHeads, kQueries, 3}, random);
    call.scale = 1 / std::sqrt(6.0);
    call.added = [this](std::int64_t, std::int64_t head, std::int64_t query, std::int64_t key) {
      return what.formula(weights, head, id(query + kPast), id(key));
    };
    made = scheme().make(request);
  }

  const Scheme& scheme() const { return find_scheme(what.scheme); }
  std::int64_t id(std::int64_t token) const { return ids[static_cast<std::size_t>(token)]; }

  template <class T>
  AttentionOptions<T> options() const {
    AttentionOptions<T> chosen;
    chosen.query_offsets = offsets;  // the last query's own key is the last
    if (const auto* bias = std::get_if<DistanceBias>(&made)) chosen.bias = bias;
    if (const auto* bias = std::get_if<std::shared_ptr<const ScoreTerm>>(&made)) {
      chosen.terms = {bias->get()};
    }
    return chosen;
  }

  const Case& what;
  std::vector<std::int64_t> ids;
  const std::vector<std::int64_t> offsets{kPast, kPast};
  SchemeWeights weights;
  SchemeRequest request;
  SchemeTable made;
  reference::Attention call;
  Tensor<double> dout;
};

// A bias below 8 rounded to float32 moves a score by 2^-22, an output of v below 4 by 2^-19 at
// most; float32 arithmetic on scores below 16 moves scores by a few times 2^-20.
TEST_P(SchemeBias, IsItsFormulaInAttention) {
  const Tensor<double> expected = reference::attend(call).output;
  Tensor<double> out(expected.shape());
  attention<double>(call.q, call.k, call.v, out, options<double>());
  Tensor<float> narrow(expected.shape());
  attention<float>(converted<float>(call.q), converted<float>(call.k), converted<float>(call.v),
                   narrow, options<float>());
  for (std::int64_t i = 0; i < out.count(); ++i) {
    EXPECT_NEAR(out.data()[i], expected.data()[i], 0x1p-19) << i;
    EXPECT_NEAR(static_cast<double>(narrow.data()[i]), expected.data()[i], 0x1p-15) << i;
  }
}

TEST_P(SchemeBias, WithWeightsHasTheirGradient) {
  EXPECT_EQ(scheme().backward != nullptr, scheme().initial_weights != nullptr);
}

// The cases that have something to learn.
class LearnedSchemeBias : public SchemeBias {};

std::vector<std::size_t> learned_cases() {
  std::vector<std::size_t> learned;
  for (std::size_t n = 0; n < cases().size(); ++n) {
    if (find_scheme(cases()[n].scheme).backward != nullptr) learned.push_back(n);
  }
  return learned;
}

// sum(out x dout) of the formula moves with each weight as the descriptor says: central differences
// with step 2^-14 are wrong by step^2 / 6 of the third derivative, below 1e-7 here, where no kink
// lies between; the float32 bias and float32 gradients of it move sums of 40 terms by 1e-5.
TEST_P(LearnedSchemeBias, LearnsThroughAttention) {
  Tensor<double> out(dout.shape());
  attention<double>(call.q, call.k, call.v, out, options<double>());
  AttentionGradients<double> gradients;
  Tensor<double> of_bias;
  if (const auto* bias = std::get_if<DistanceBias>(&made)) {
    of_bias = Tensor<double>(bias->values.shape());
    gradients.bias.values = of_bias.view();
  } else {
    const auto& indexed = std::get<std::shared_ptr<const ScoreTerm>>(made);
    of_bias = Tensor<double>({1, indexed->needs().parameters});
    gradients.terms = {of_bias.view().select(0, 0)};
  }
  attention_backward<double>(call.q, call.k, call.v, out, dout, gradients, options<double>());
  const SchemeWeights learned = scheme().backward(request, of_bias);
  ASSERT_FALSE(weights.empty());
  const auto loss = [&] {
    const Tensor<double> result = reference::attend(call).output;
    double sum = 0;
    for (std::int64_t i = 0; i < result.count(); ++i) sum += result.data()[i] * dout.data()[i];
    return sum;
  };
  for (auto& [name, values] : weights) {
    for (std::int64_t i = 0; i < values.count(); ++i) {
      constexpr double kStep = 0x1p-14;
      const double kept = values.data()[i];
      values.data()[i] = kept + kStep;
      const double above = loss();
      values.data()[i] = kept - kStep;
      const double below = loss();
      values.data()[i] = kept;
      const double slope = (above - below) / (2 * kStep);
      EXPECT_NEAR(learned.at(name).data()[i], slope, 1e-5 * (1 + std::abs(slope)))
          << name << " " << i;
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<std::size_t>& one) {
  return std::string(cases()[one.param].scheme) + "_" + std::to_string(one.param);
}
INSTANTIATE_TEST_SUITE_P(All, SchemeBias, ::testing::Range(std::size_t{0}, cases().size()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, LearnedSchemeBias, ::testing::ValuesIn(learned_cases()), name_of);

}  // namespace
}  // namespace sextant::scheme_bias_test
