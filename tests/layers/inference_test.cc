// Inference: the results of training's forward pass, in the memory of one layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gradient_checks.h"
#include "sextant/layers/stack_decoder.h"
#include "sextant/layers/transformer_stack.h"
#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

StackOptions options_of(std::int64_t layers, std::int64_t width = 8) {
  StackOptions options{
      .layers = layers, .attention = {.width = width, .heads = 2}, .activation = Activation::gelu};
  return options;
}

template <class T>
std::vector<T> copied(View<const T> x) {
  return {x.data(), x.data() + x.count()};
}

// A stack over two sequences of 5 and 3 tokens (contexts of 4 and 2), both ways.
template <class T>
void expect_equal_bits(const StackOptions& options, const SchemeSpec& scheme, double dropout) {
  NumpyRandom random(3);
  const TransformerStack<T> stack(options, random);
  const PositionModule<T> positions({.schemes = {scheme}, .width = 8, .heads = 2, .head_dim = 4});
  Tensor<T> x({8, 8}), context({6, 8});
  for (T& value : x.span()) value = static_cast<T>(random.normal());
  for (T& value : context.span()) value = static_cast<T>(random.normal());
  const std::int64_t segments[] = {0, 5, 8}, context_segments[] = {0, 4, 6};
  const PositionTables<T> tables = positions.tables(segments);
  typename TransformerStack<T>::Input input{.segments = segments, .positions = &tables};
  if (options.cross) {
    input.context = context.view();
    input.context_segments = context_segments;
  }
  Workspace memory;
  const auto make_pass = [&] {
    return Pass{.memory = memory,
                .threads = 1,
                .dropout = dropout,
                .random = {.seed = 5},
                .attention_dropout = dropout};
  };
  Pass training = make_pass();
  const auto saved = stack.forward(x.view(), input, training);
  Pass pass = make_pass();
  std::vector<std::vector<T>> streams;
  std::size_t looks = 0;
  const auto look = [&](std::size_t layer, const auto& attended, const auto& kept) {
    EXPECT_EQ(layer, looks++ / (options.cross ? 2 : 1));
    EXPECT_EQ(copied<T>(attended.mixed), copied<T>(kept.inner.mixed));
  };
  const View<const T> y = stack.infer(
      x.view(), input, pass,
      {.self = [&](std::size_t i, const auto& each) { look(i, each, saved.layers[i].self); },
       .cross = [&](std::size_t i, const auto& each) { look(i, each, *saved.layers[i].cross); },
       .residual = [&](View<const T> stream) { streams.push_back(copied(stream)); }});
  EXPECT_EQ(copied(y), copied(saved.y));
  EXPECT_EQ(pass.random.stream, training.random.stream);
  ASSERT_EQ(streams.size(), stack.layers.size() + 1);
  EXPECT_EQ(streams[0], copied<T>(x.view()));
  if (!stack.final_norm) {
    EXPECT_EQ(streams.back(), copied(y));
  }
}

TEST(Inference, HasTheBitsOfTheForwardPassOfTraining) {
  for (const bool pre_norm : {true, false}) {
    for (const bool cross : {true, false}) {
      for (const char* scheme : {"none", "rotary", "alibi", "t5", "shaw"}) {
        SCOPED_TRACE(scheme);
        StackOptions options = options_of(3);
        options.pre_norm = options.final_norm = pre_norm;
        options.causal = options.cross = cross;
        expect_equal_bits<float>(options, scheme, 0);
        expect_equal_bits<double>(options, scheme, 0.3);
      }
    }
  }
}

// The most memory that a pass of 600 tokens takes, in bytes.
std::size_t peak(const StackOptions& options, bool infer) {
  NumpyRandom random(3);
  const TransformerStack<float> stack(options, random);
  const Tensor<float> x({600, options.attention.width});
  const std::int64_t segments[] = {0, 600};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const TransformerStack<float>::Input input{.segments = segments};
  if (infer) {
    stack.infer(x.view(), input, pass);
  } else {
    stack.forward(x.view(), input, pass);
  }
  return memory.bytes();
}

TEST(Inference, TakesTheMemoryOfOneLayer) {
  for (const bool pre_norm : {true, false}) {
    StackOptions two = options_of(2, 128), twelve = options_of(12, 128);
    two.pre_norm = twelve.pre_norm = pre_norm;
    const std::size_t inferred = peak(twelve, true), trained = peak(two, false);
    EXPECT_EQ(inferred, peak(two, true));
    EXPECT_LT(inferred, trained);
    EXPECT_GE(peak(twelve, false), 4 * trained);
  }
}

TEST(Inference, OfADecoderTakesTheMemoryOfOneLayer) {
  std::vector<std::size_t> peaks;
  for (const std::int64_t layers : {2, 12}) {
    NumpyRandom random(3);
    const TransformerStack<float> stack(options_of(layers, 128), random);
    const PositionModule<float> positions(
        {.schemes = {"rotary"}, .width = 128, .heads = 2, .head_dim = 64});
    StackDecoder decoder(stack, positions, 1, 600);
    const Tensor<float> x({600, 128});
    Workspace memory;
    Pass pass{.memory = memory, .threads = 1};
    decoder.read(x.view(), pass);
    peaks.push_back(memory.bytes());
  }
  EXPECT_EQ(peaks[0], peaks[1]);
}

TEST(Inference, LeavesNothingForABackwardPass) {
  NumpyRandom random(3);
  const TransformerStack<double> stack(options_of(2), random);
  TransformerStack<double> gradient(options_of(2), random);
  Tensor<double> d({4, 8});
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  EXPECT_THAT(error_of([&] { stack.backward({}, d.view(), {}, gradient, nullptr, pass); }),
              HasSubstr("[stack.saved] must be the result of forward() of this stack, "
                        "of 2 layers, got 0; infer() keeps nothing"));
}

}  // namespace
}  // namespace sextant
