// WavLM's gated bias against its formula.
#include "sextant/schemes/indexed/gated_bias.h"

#include <gmock/gmock.h>

#include "schemes/content/content_checks.h"
#include "sextant/schemes/distance/t5.h"

namespace sextant::gated_bias_test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kIds[] = {0, 1, 2, 3, 4, 5, 6, 7};
const GatedBias kOptions{.num_buckets = 8, .max_distance = 6};
const T5 kBuckets{.num_buckets = 8, .max_distance = 6};

GatedBiasWeights weights_of(std::int64_t batch, std::int64_t tokens = 8) {
  NumpyRandom random(11);
  return {testing::normal({8, 4}, random), testing::normal({batch, 4, tokens}, random)};
}

TEST(GatedBias, MultipliesABiasByDistanceWithTheGateOfTheQuery) {
  for (const std::int64_t batch : {1, 2}) {
    testing::ContentCall call(3, false);
    const GatedBiasWeights weights = weights_of(batch);
    const auto term = gated_bias(kOptions, weights);
    const auto bias = [&](const testing::ContentCall&, const testing::Pair& p) {
      return weights.gates(batch == 1 ? 0 : p.batch, p.head, p.own) *
             weights.table(t5_bucket(p.key - p.own, kBuckets), p.head);
    };
    call.options.terms = {term.get()};
    const testing::Naive expected = testing::naive_attention(call, 1 / std::sqrt(3.0), bias);
    Tensor<double> out(call.q.shape());
    attention<double>(call.q, call.k, call.v, out, call.options);
    testing::expect_near(out, expected.output, testing::kFloat64Tolerance);
    testing::expect_near(attention_weights<double>(call.q, call.k, call.options), expected.weights,
                         testing::kFloat64Tolerance);
  }
}

TEST(GatedBias, HasTheGradientsOfTableAndGates) {
  for (const std::int64_t batch : {1, 2}) {
    testing::ContentCall call(4, false);
    GatedBiasWeights of = weights_of(batch);
    SchemeWeights weights;
    weights.emplace("table", std::move(of.table));
    weights.emplace("gates", std::move(of.gates));
    testing::expect_gradients(
        "gated_bias", testing::content_request(kIds, {{"num_buckets", "8"}, {"max_distance", "6"}}),
        std::move(weights), call);
  }
}

TEST(GatedBias, WithGatesOf1IsT5) {
  testing::ContentCall call(5, false);
  call.options.query_offsets = {};
  GatedBiasWeights weights = weights_of(1);
  for (double& gate : weights.gates.span()) gate = 1;
  // Float32 numbers, as a table of distances has them.
  for (double& x : weights.table.span()) x = static_cast<double>(static_cast<float>(x));
  const auto term = gated_bias(kOptions, weights);
  call.options.causal = Causal::top_left;
  call.options.terms = {term.get()};
  const double loss = testing::loss_of(call);
  const DistanceBias bias = t5(kBuckets, {weights.table.clone()}, 8);
  call.options.terms.clear();
  call.options.bias = &bias;
  EXPECT_NEAR(testing::loss_of(call), loss, 1e-12);
}

TEST(GatedBias, NamesTheArgumentAtFault) {
  const auto error = [](const GatedBias& options) {
    return error_of([&] { gated_bias(options, weights_of(1)); });
  };
  EXPECT_EQ(error({.num_buckets = 9}), "[gated_bias.num_buckets] must be even, 4 .. 4096, got 9");
  EXPECT_EQ(error({.num_buckets = 8, .max_distance = 2}),
            "[gated_bias.max_distance] must be 3 .. 2^28 with 8 buckets, got 2");
  EXPECT_THAT(error({.num_buckets = 10}), HasSubstr("[gated_bias.table] must be [10, heads]"));
  GatedBiasWeights weights = weights_of(1);
  weights.gates(0, 0, 3) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_of([&] { gated_bias(kOptions, weights); }), "[gated_bias.gates] must be finite");
  weights.gates = Tensor<double>({1, 3, 8});
  EXPECT_EQ(error_of([&] { gated_bias(kOptions, weights); }),
            "[gated_bias.gates] must be [batch or 1, 4, length], as the heads of the table, got "
            "[1, 3, 8]");
  testing::ContentCall call(8, false);
  EXPECT_EQ(testing::refusal_of(*gated_bias(kOptions, weights_of(1, 5)), call),
            "[gated_bias.gates] must have a gate for each of 7 tokens, got [1, 4, 5]");
  EXPECT_EQ(testing::refusal_of(*gated_bias(kOptions, weights_of(3)), call),
            "[gated_bias.gates] must be [1 or 2, 4, length], got [3, 4, 8]");
}

}  // namespace
}  // namespace sextant::gated_bias_test
