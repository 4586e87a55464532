// Layers against what PyTorch computes, forward and backward: golden/make_golden.py.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "layers/golden_case.h"
#include "sextant/layers/embedding.h"
#include "sextant/layers/heads.h"

namespace sextant {
namespace {

TEST(LayersGolden, EmbeddingWithPositions) {
  const GoldenCase golden("embedding");
  const auto& config = golden.config();
  const auto indices = config["indices"].get<std::vector<std::int64_t>>();
  const auto segments = golden.integers("x_segments");
  const Embedding<double> embedding(golden.as<double>("parameter.weight"),
                                    config["padding"].get<std::int64_t>());
  // Two roundings of numbers no larger than the largest.
  constexpr double kTolerance = 4 * 0x1p-53;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    const std::int64_t begin = segments[s], length = segments[s + 1] - begin;
    const auto part = [&](const char* name) {
      return copy_of(View<const double>(golden[name].data() + begin * embedding.width(),
                                        Shape{1, length, embedding.width()}));
    };
    const auto got = embed_with_positions<double>(
        embedding, View<const std::int64_t>(indices.data() + begin, Shape{1, length}),
        golden["positions"].view().narrow(0, begin, length), {.threads = 1});
    EXPECT_TRUE(is_near<double>(got, part("output"), kTolerance));
  }
}

template <class T>
class LayersGoldenOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(LayersGoldenOf, Reals);

// Projections one by one, packed sequences in one call.
TYPED_TEST(LayersGoldenOf, MultiHeadOfPackedSequences) {
  using T = TypeParam;
  for (const char* name : {"mha_self", "mha_causal", "mha_cross"}) {
    SCOPED_TRACE(name);
    const GoldenCase golden(name);
    const std::int64_t width = golden.config()["width"];
    NumpyRandom random(1);
    MultiHead<T> layer(width, golden.config()["heads"], random);
    const auto weight = golden.as<T>("parameter.in_proj_weight"),
               bias = golden.as<T>("parameter.in_proj_bias");
    std::int64_t row = 0;
    for (Linear<T>* linear : {&layer.to_q, &layer.to_k, &layer.to_v}) {
      linear->weight = copy_of(weight.view().narrow(0, row, width));
      linear->bias = copy_of(bias.view().narrow(0, row, width));
      row += width;
    }
    layer.to_out = {golden.as<T>("parameter.out_proj.weight"),
                    golden.as<T>("parameter.out_proj.bias")};
    const auto x = golden.as<T>("input.x");
    const bool cross = golden.config()["cross"];
    const auto context = golden.as<T>(cross ? "input.context" : "input.x");
    const auto segments = golden.integers("x_segments"),
               key_segments = golden.integers(cross ? "context_segments" : "x_segments");
    AttentionOptions<T> options{.segments = segments, .key_segments = key_segments};
    options.causal = golden.config()["causal"] ? Causal::top_left : Causal::none;
    EXPECT_TRUE(
        is_near<T>(layer(x, context, options).output, golden["output"], golden.tolerance<T>()));
  }
}

}  // namespace
}  // namespace sextant
