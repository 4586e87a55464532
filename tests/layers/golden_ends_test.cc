// The two ends of a model, embedding and losses, against what PyTorch computes, forward and
// backward: golden/make_golden.py.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "layers/golden_layer.h"
#include "sextant/layers/embedding.h"
#include "sextant/layers/pointer.h"
#include "sextant/layers/position_module.h"
#include "sextant/layers/token_loss.h"

namespace sextant {
namespace {

template <class T>
class GoldenEnds : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GoldenEnds, Reals);

TYPED_TEST(GoldenEnds, EmbeddingWithPositions) {
  using T = TypeParam;
  const GoldenCase golden("embedding");
  const auto& config = golden.config();
  const auto indices = config["indices"].get<std::vector<std::int64_t>>();
  const auto segments = golden.integers("x_segments");
  const std::int64_t width = config["width"].get<std::int64_t>(),
                     padding = config["padding"].get<std::int64_t>();
  const double scale = std::sqrt(static_cast<double>(width));
  const Embedding<T> embedding(golden.as<T>("parameter.weight"), padding);
  Embedding<T> gradient(Tensor<T>(embedding.table().shape()), padding);
  PositionModule<T> positions({.schemes = {"sinusoidal"}, .width = width, .head_dim = width});
  const PositionTables<T> tables = positions.tables(16);
  const auto length = static_cast<std::int64_t>(indices.size());
  Tensor<T> y(Shape{length, width});
  const auto dout = golden.as<T>("dout");
  Workspace memory;
  Pass pass{memory};
  embedding.forward(indices, scale, y, pass);
  tables.add_to(y, segments, {}, pass);
  embedding.backward(indices, scale, dout, gradient, pass);
  // The scale, product, position and sum are rounded; the gradient is a sum of up to three rows.
  const double tolerance = 8 * (std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24);
  EXPECT_TRUE(is_near<T>(y, golden["output"], tolerance));
  EXPECT_TRUE(is_near<T>(gradient.table(), golden["gradient.weight"], tolerance));

  // The layer without gradients gives the same, a sequence at a time.
  const auto table = golden.as<T>("positions");
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    const std::int64_t begin = segments[s], count = segments[s + 1] - begin;
    const auto rows = embed_with_positions<T>(
        embedding, View<const std::int64_t>(indices.data() + begin, Shape{1, count}),
        table.view().narrow(0, begin, count));
    const auto wanted = copy_of(
        View<const double>(golden["output"].data() + begin * width, Shape{1, count, width}));
    EXPECT_TRUE(is_near<T>(rows, wanted, tolerance));
  }
}

// The file's logits as products with the unit matrix.
TYPED_TEST(GoldenEnds, CrossEntropy) {
  using T = TypeParam;
  for (const char* name : {"cross_entropy", "cross_entropy_smoothed"}) {
    SCOPED_TRACE(name);
    const GoldenCase golden(name);
    const auto logits = golden.as<T>("input.logits");
    const std::int64_t rows = logits.size(0), tokens = logits.size(1);
    Tensor<T> unit(Shape{tokens, tokens}), dunit(unit.shape()), dlogits(logits.shape());
    for (std::int64_t t = 0; t < tokens; ++t) unit(t, t) = 1;
    const auto targets = golden.config()["targets"].get<std::vector<std::int64_t>>();
    Workspace memory;
    Pass pass{memory};
    const LossSum sum = token_loss<T>(
        logits, unit, targets, {.label_smoothing = golden.config()["smoothing"].get<double>()},
        dlogits, dunit.view(), pass);
    // Seven rows, each a logarithm of a sum of seven exponentials of logits up to 8: their
    // roundings and those of the logits.
    const double u = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;
    EXPECT_NEAR(sum.smoothed, golden["output"](0), 7 * 8 * 8 * u);
    EXPECT_NEAR(sum.loss, golden["negative_log_likelihood"](0), 7 * 8 * 8 * u);
    EXPECT_EQ(sum.tokens, 7);
    EXPECT_NEAR(sum.smoothed / 7, golden["mean"](0), 8 * 8 * u);
    EXPECT_TRUE(is_near<T>(dlogits, golden["gradient.input.logits"], 4 * 8 * u));
    // d of the unit matrix is d logits^T logits.
    Tensor<double> wanted(unit.shape());
    for (std::int64_t t = 0; t < tokens; ++t)
      for (std::int64_t c = 0; c < tokens; ++c)
        for (std::int64_t i = 0; i < rows; ++i)
          wanted(t, c) += golden["gradient.input.logits"](i, t) * golden["input.logits"](i, c);
    EXPECT_TRUE(is_near<T>(dunit, wanted, 4 * 8 * u + 2 * static_cast<double>(rows) * u));
  }
}

TYPED_TEST(GoldenEnds, PointerLoss) {
  using T = TypeParam;
  for (const char* name : {"pointer", "pointer_smoothed"}) {
    SCOPED_TRACE(name);
    const GoldenCase golden(name);
    NumpyRandom random(1);
    Golden<T, Pointer<T>> it(
        golden, [](const std::string& ours) { return std::vector<std::string>{ours}; },
        golden.config()["width"].get<std::int64_t>(), FirstWeights(random));
    const auto h = golden.as<T>("input.h"), context = golden.as<T>("input.context"),
               weight = golden.as<T>("parameter.output.weight");
    const auto source = golden.config()["source"].get<std::vector<std::int64_t>>(),
               targets = golden.config()["targets"].get<std::vector<std::int64_t>>(),
               segments = golden.integers("h_segments"),
               context_segments = golden.integers("context_segments");
    Tensor<T> dh(h.shape()), dcontext(context.shape()), dweight(weight.shape());
    Workspace memory;
    Pass pass{memory};
    const LossSum sum = it.layer.loss(
        {.h = h,
         .context = context,
         .source = source,
         .segments = segments,
         .context_segments = context_segments,
         .targets = targets},
        weight,
        {.label_smoothing = golden.config()["smoothing"].get<double>(), .scale = golden["dout"](0)},
        dh, dcontext, dweight, &it.gradient, pass);
    const double tolerance = golden.tolerance<T>() * golden["output"](0);
    EXPECT_NEAR(sum.smoothed, golden["output"](0), tolerance);
    EXPECT_NEAR(sum.loss, golden["negative_log_likelihood"](0), tolerance);
    EXPECT_EQ(sum.tokens, 7);
    expect_golden<T>(golden, "gradient.input.h", dh);
    expect_golden<T>(golden, "gradient.input.context", dcontext);
    expect_golden<T>(golden, "gradient.output.weight", dweight);
    it.expect_gradients();
  }
}

}  // namespace
}  // namespace sextant
