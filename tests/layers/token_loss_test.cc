// Losses over a vocabulary and their gradients.
#include "sextant/layers/token_loss.h"

#include <gtest/gtest.h>

#include "gradient_checks.h"
#include "sextant/layers/pointer.h"

namespace sextant {
namespace {

const std::vector<std::int64_t> kTargets = {3, 0, -1, 6, 2};

TEST(TokenLoss, HasTheGradientOfSmoothedCrossEntropy) {
  Tensor<double> h = random_tensor({5, 4}, 1), weight = random_tensor({7, 4}, 2);
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const TokenLossOptions options{.label_smoothing = 0.1, .scale = 0.25};
  const auto loss = [&] {
    return token_loss<double>(h, weight, kTargets, options, {}, {}, pass).smoothed * options.scale;
  };
  Tensor<double> dh(h.shape()), dweight(weight.shape());
  const LossSum sum = token_loss<double>(h, weight, kTargets, options, dh, dweight, pass);
  EXPECT_EQ(sum.tokens, 4);
  expect_gradient(h.span(), dh.span(), loss, "h");
  expect_gradient(weight.span(), dweight.span(), loss, "weight");
}

TEST(TokenLoss, OfOneTokenIsItsNegativeLogProbability) {
  Tensor<double> h({1, 1}), weight({2, 1});
  h(0, 0) = 1;
  weight(0, 0) = 0;
  weight(1, 0) = std::log(3.0);
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const std::int64_t target = 1;
  const LossSum sum = token_loss<double>(h, weight, {&target, 1}, {}, {}, {}, pass);
  EXPECT_NEAR(sum.loss, -std::log(0.75), 1e-15);
  EXPECT_EQ(sum.correct, 1);
  EXPECT_NEAR(token_log_likelihoods<double>(h, weight, {&target, 1}, pass)(0), std::log(0.75),
              1e-15);
}

TEST(TokenLoss, RefusesTargetsOutsideTheVocabulary) {
  Tensor<double> h({1, 4}), weight({7, 4});
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const std::int64_t target = 7;
  EXPECT_THROW(token_loss<double>(h, weight, {&target, 1}, {}, {}, {}, pass), Error);
  EXPECT_THROW(token_loss<double>(h, weight, {}, {}, {}, {}, pass), Error);
}

// A pointer over two sequences, of which the second source holds no target.
struct PointerCase {
  Tensor<double> h = random_tensor({5, 4}, 1), context = random_tensor({6, 4}, 2),
                 weight = random_tensor({7, 4}, 3);
  std::vector<std::int64_t> source = {3, 0, 3, 5, 5, 1}, segments = {0, 3, 5},
                            context_segments = {0, 4, 6};
  Pointer<double>::Input input() const {
    return {h, context, source, segments, context_segments, kTargets};
  }
};

TEST(Pointer, HasTheGradientOfTheMixture) {
  PointerCase data;
  NumpyRandom random(4);
  Pointer<double> pointer(4, random), gradient(4, random);
  set_to_zero(listed(gradient));
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const TokenLossOptions options{.label_smoothing = 0.1, .scale = 0.25};
  const auto loss = [&] {
    return options.scale *
           pointer.loss(data.input(), data.weight, options, {}, {}, {}, nullptr, pass).smoothed;
  };
  Tensor<double> dh(data.h.shape()), dcontext(data.context.shape()), dweight(data.weight.shape());
  pointer.loss(data.input(), data.weight, options, dh, dcontext, dweight, &gradient, pass);
  expect_gradient(data.h.span(), dh.span(), loss, "h");
  expect_gradient(data.context.span(), dcontext.span(), loss, "context");
  expect_gradient(data.weight.span(), dweight.span(), loss, "weight");
  expect_gradients(listed(pointer), listed(gradient), loss);
}

TEST(Pointer, CountsATargetAsCorrectWhenTheMixtureSaysSo) {
  PointerCase data;
  NumpyRandom random(4);
  const Pointer<double> pointer(4, random);
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  // The most probable token of every row, from what decoding mixes.
  std::vector<std::int64_t> best;
  for (std::size_t s = 0; s < 2; ++s) {
    const std::int64_t begin = data.segments[s], rows = data.segments[s + 1] - begin;
    const std::int64_t from = data.context_segments[s], keys = data.context_segments[s + 1] - from;
    Tensor<double> k({keys, 4}), logits({rows, 7});
    const View<const double> h = data.h.view().narrow(0, begin, rows);
    pointer.to_k.forward(View<const double>(data.context.view()).narrow(0, from, keys), k, pass);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t w = 0; w < 7; ++w) {
        for (std::int64_t c = 0; c < 4; ++c) logits(i, w) += h(i, c) * data.weight(w, c);
      }
    }
    pointer.mix(h, k, std::span(data.source).subspan(from, keys), logits, {}, pass);
    for (std::int64_t i = 0; i < rows; ++i) {
      const double* line = &logits(i, 0);
      best.push_back(std::max_element(line, line + 7) - line);
    }
  }
  auto input = data.input();
  input.targets = best;
  EXPECT_EQ(pointer.loss(input, data.weight, {}, {}, {}, {}, nullptr, pass).correct, 5);
  for (std::int64_t& token : best) token = (token + 1) % 7;
  EXPECT_EQ(pointer.loss(input, data.weight, {}, {}, {}, {}, nullptr, pass).correct, 0);
}

TEST(Pointer, MixesToADistribution) {
  PointerCase data;
  NumpyRandom random(4);
  const Pointer<double> pointer(4, random);
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const View<const double> context = data.context.view().narrow(0, 0, 4);
  const View<const double> h = data.h.view().narrow(0, 0, 3);
  Tensor<double> keys({4, 4}), logits = random_tensor({3, 7}, 8), copied({3, 4});
  pointer.to_k.forward(context, keys, pass);
  pointer.mix(h, keys, std::span(data.source).first(4), logits, copied, pass);
  for (std::int64_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (std::int64_t w = 0; w < 7; ++w) sum += std::exp(logits(row, w));
    EXPECT_NEAR(sum, 1, 1e-14);
  }
}

}  // namespace
}  // namespace sextant
