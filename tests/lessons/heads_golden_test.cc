// Heads against what PyTorch computes: tests/layers/golden/make_golden.py.
#include <gtest/gtest.h>

#include <cstdint>

#include "layers/golden_layer.h"
#include "sextant/lessons/heads.h"

namespace sextant {
namespace {

template <class T>
class GoldenHeads : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GoldenHeads, Reals);

TYPED_TEST(GoldenHeads, MultiHeadOfPackedSequences) {
  using T = TypeParam;
  for (const char* name : {"mha_self", "mha_causal", "mha_cross"}) {
    SCOPED_TRACE(name);
    const GoldenCase golden(name);
    const std::int64_t width = golden.config()["width"].get<std::int64_t>();
    NumpyRandom random(1);
    MultiHead<T> layer(width, golden.config()["heads"].get<std::int64_t>(), random);
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
    const bool cross = golden.config()["cross"].get<bool>();
    const auto context = golden.as<T>(cross ? "input.context" : "input.x");
    const auto segments = golden.integers("x_segments"),
               key_segments = golden.integers(cross ? "context_segments" : "x_segments");
    AttentionOptions<T> options{.segments = segments, .key_segments = key_segments};
    options.causal = golden.config()["causal"].get<bool>() ? Causal::top_left : Causal::none;
    expect_golden<T>(golden, "output", layer(x, context, options).output);
  }
}

}  // namespace
}  // namespace sextant
