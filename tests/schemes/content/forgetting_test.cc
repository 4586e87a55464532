// The Forgetting Transformer's decay.
#include "sextant/schemes/content/forgetting.h"

#include <gmock/gmock.h>

#include "schemes/content/content_checks.h"

namespace sextant::forgetting_test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kIds[] = {0, 1, 2, 3, 4, 5, 6, 7};

Tensor<double> gates(std::int64_t batch, std::uint32_t seed) {
  NumpyRandom random(seed);
  Tensor<double> x({batch, 4, 8});
  for (double& gate : x.span()) gate = std::log(0.05 + 0.9 * random.uniform());
  return x;
}

TEST(Forgetting, AddsTheGatesBetweenKeyAndQuery) {
  for (const std::int64_t batch : {1, 2}) {
    testing::ContentCall call(3, true);
    const Tensor<double> log_gates = gates(batch, 11);
    const auto term = forgetting(log_gates);
    testing::expect_forward(call, *term, 1 / std::sqrt(3.0),
                            [&](const testing::ContentCall&, const testing::Pair& p) {
                              double sum = 0;
                              for (std::int64_t t = p.key + 1; t <= p.own; ++t) {
                                sum += log_gates(batch == 1 ? 0 : p.batch, p.head, t);
                              }
                              return sum;
                            });
  }
}

TEST(Forgetting, HasTheGradientsOfItsGates) {
  for (const std::int64_t batch : {1, 2}) {
    testing::ContentCall call(4, true);
    SchemeWeights weights;
    weights.emplace("log_gates", gates(batch, 12));
    testing::expect_gradients("forgetting", testing::content_request(kIds), std::move(weights),
                              call);
  }
}

// Gates 0.5 and 0.25 after the first token: ln 0.125, ln 0.25 and 0.
TEST(Forgetting, GivesTheKnownNumbers) {
  Tensor<double> log_gates({1, 1, 3});
  log_gates(0, 0, 0) = -7;  // no pair looks across it
  log_gates(0, 0, 1) = std::log(0.5);
  log_gates(0, 0, 2) = std::log(0.25);
  const auto term = forgetting(log_gates);
  const Tensor<double> q({1, 1, 3, 1}), k({1, 1, 3, 1});
  const auto scores = attention_weights<double>(
      q, k, {.causal = Causal::top_left, .terms = {term.get()}}, {.stage = Stage::biased});
  // Sums of logarithms of up to 9: a few 2^-53 of that.
  EXPECT_NEAR(scores(0, 0, 2, 0), -2.0794415416798357, 4e-15);
  EXPECT_NEAR(scores(0, 0, 2, 1), std::log(0.25), 4e-15);
  EXPECT_EQ(scores(0, 0, 2, 2), 0);
}

// Constant gates are ALiBi with slope -log f.
TEST(Forgetting, OfConstantGatesIsAlibi) {
  testing::ContentCall call(5, true);
  Tensor<double> log_gates({1, 4, 8});
  for (double& gate : log_gates.span()) gate = -0.25;
  const auto term = forgetting(log_gates);
  call.options.terms = {term.get()};
  const double loss = testing::loss_of(call);
  call.options.terms.clear();
  const DistanceBias bias{.slopes = std::vector<double>(4, 0.25)};
  call.options.bias = &bias;
  EXPECT_NEAR(testing::loss_of(call), loss, 1e-12);
}

TEST(Forgetting, ReadsTheGatesOfItsSegment) {
  NumpyRandom random(7);
  const Tensor<double> q = testing::normal({1, 4, 8, 3}, random),
                       k = testing::normal({1, 2, 8, 3}, random),
                       v = testing::normal({1, 2, 8, 3}, random);
  const Tensor<double> log_gates = gates(1, 13);
  const auto term = forgetting(log_gates);
  const std::vector<std::int64_t> segments{0, 3, 8};
  Tensor<double> packed(q.shape()), alone({1, 4, 5, 3});
  attention<double>(q, k, v, packed,
                    {.causal = Causal::top_left, .segments = segments, .terms = {term.get()}});
  const auto second = forgetting(log_gates.view().narrow(2, 3, 5));
  attention<double>(q.view().narrow(2, 3, 5), k.view().narrow(2, 3, 5), v.view().narrow(2, 3, 5),
                    alone, {.causal = Causal::top_left, .terms = {second.get()}});
  for (std::int64_t h = 0; h < 4; ++h) {
    for (std::int64_t i = 0; i < 5; ++i) {
      // The sums begin elsewhere: roundings of numbers below 30.
      EXPECT_NEAR(packed(0, h, 3 + i, 0), alone(0, h, i, 0), testing::kFloat64Tolerance);
    }
  }
}

TEST(Forgetting, NamesTheArgumentAtFault) {
  testing::ContentCall ahead(8, false), call(8, true);
  EXPECT_EQ(testing::refusal_of(*forgetting(gates(1, 1)), ahead),
            "[forgetting] must be used with causal attention: gates forget earlier tokens");
  EXPECT_EQ(testing::refusal_of(*forgetting(Tensor<double>({1, 4, 6})), call),
            "[forgetting.log_gates] must be [1 or 2, 4, at least 7], got [1, 4, 6]");
  EXPECT_THAT(testing::refusal_of(*forgetting(Tensor<double>({3, 4, 8})), call),
              HasSubstr("must be [1 or 2, 4, at least 7], got [3, 4, 8]"));
  Tensor<double> wrong({1, 1, 2});
  wrong(0, 0, 1) = 0.5;
  EXPECT_EQ(error_of([&] { forgetting(wrong); }), "[forgetting.log_gates] must be finite and <= 0");
  EXPECT_THAT(error_of([] {
                forgetting(Tensor<double>({2, 2}));
              }),
              HasSubstr("must be [batch or 1, heads, length], got [2, 2]"));
}

}  // namespace
}  // namespace sextant::forgetting_test
