// Attention, blocks and stacks against what PyTorch computes, forward and backward:
// golden/make_golden.py.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "layers/golden_layer.h"
#include "sextant/layers/attention_layer.h"
#include "sextant/layers/position_module.h"
#include "sextant/layers/transformer_stack.h"

namespace sextant {
namespace {

template <class T>
class GoldenStack : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GoldenStack, Reals);

TYPED_TEST(GoldenStack, AttentionLayer) {
  using T = TypeParam;
  const GoldenNames rules{
      {"in.weight", {"in_proj_weight"}}, {"in.bias", {"in_proj_bias"}}, {"out.", {"out_proj."}}};
  for (const char* name : {"mha_self", "mha_causal", "mha_cross"}) {
    SCOPED_TRACE(name);
    const GoldenCase golden(name);
    NumpyRandom random(1);
    const AttentionLayerOptions options{.width = golden.config()["width"].get<std::int64_t>(),
                                        .heads = golden.config()["heads"].get<std::int64_t>(),
                                        .cross = golden.config()["cross"].get<bool>()};
    Golden<T, AttentionLayer<T>> it(
        golden, [&](const std::string& ours) { return golden_names(rules, ours, ""); }, options,
        FirstWeights(random));
    const bool cross = golden.config()["cross"].get<bool>();
    const auto x = golden.as<T>("input.x"), dout = golden.as<T>("dout");
    const auto context = cross ? golden.as<T>("input.context") : Tensor<T>();
    const auto segments = golden.integers("x_segments");
    const auto key_segments =
        cross ? golden.integers("context_segments") : std::vector<std::int64_t>();
    const AttentionCall<T> call{.causal = golden.config()["causal"].get<bool>(),
                                .segments = segments,
                                .key_segments = key_segments};
    Workspace memory;
    Pass pass{memory};
    Tensor<T> y(x.shape()), dx(x.shape()), dcontext(context.shape());
    const auto saved = it.layer.forward(x, cross ? context.view() : View<const T>(), call, y, pass);
    expect_golden<T>(golden, "output", y);
    it.layer.backward(saved, dout, dx, cross ? dcontext.view() : View<T>(), it.gradient, nullptr,
                      pass);
    expect_golden<T>(golden, "gradient.input.x", dx);
    if (cross) expect_golden<T>(golden, "gradient.input.context", dcontext);
    it.expect_gradients();
  }
}

StackOptions stack_options(const Json& config) {
  StackOptions options;
  options.layers = config.contains("layers") ? config["layers"].get<std::int64_t>() : 1;
  options.attention.width = config["width"].get<std::int64_t>();
  options.attention.heads = config["heads"].get<std::int64_t>();
  options.ffn_width = config["hidden"].get<std::int64_t>();
  options.epsilon = config["eps"].get<double>();
  if (config.contains("activation")) {
    options.activation = parse_name<Activation>(config["activation"].get<std::string>(), "config");
  }
  options.pre_norm = !config.contains("norm") || config["norm"] == "pre";
  options.final_norm = config.contains("layers");
  return options;
}

// A stack of one layer, without the norm behind it.
TYPED_TEST(GoldenStack, EncoderAndDecoderLayers) {
  using T = TypeParam;
  for (const bool decoder : {false, true}) {
    for (const char* kind : {"post_relu", "post_gelu", "pre_relu", "pre_gelu"}) {
      SCOPED_TRACE(std::string(decoder ? "decoder " : "encoder ") + kind);
      const GoldenCase golden((decoder ? "decoder_layer_" : "encoder_layer_") + std::string(kind));
      StackOptions options = stack_options(golden.config());
      options.causal = options.cross = decoder;
      NumpyRandom random(1);
      Golden<T, TransformerStack<T>> it(
          golden,
          [&](const std::string& ours) {
            return golden_names(transformer_names(decoder), ours, "", true);
          },
          options, FirstWeights(random));
      const auto x = golden.as<T>("input.x");
      auto d = golden.as<T>("dout");
      const auto memory_in = decoder ? golden.as<T>("input.memory") : Tensor<T>();
      Tensor<T> dmemory(memory_in.shape());
      const auto segments = golden.integers("x_segments");
      const auto memory_segments =
          decoder ? golden.integers("memory_segments") : std::vector<std::int64_t>();
      Workspace memory;
      Pass pass{memory};
      const auto saved = it.layer.forward(x,
                                          {.segments = segments,
                                           .context = decoder ? memory_in.view() : View<const T>(),
                                           .context_segments = memory_segments},
                                          pass);
      expect_golden<T>(golden, "output", saved.y);
      it.layer.backward(saved, d, decoder ? dmemory.view() : View<T>(), it.gradient, nullptr, pass);
      expect_golden<T>(golden, "gradient.input.x", d);
      if (decoder) expect_golden<T>(golden, "gradient.input.memory", dmemory);
      it.expect_gradients();
    }
  }
}

// nn.Transformer: both stacks with the norms behind them, whether norms come before or after.
TYPED_TEST(GoldenStack, EncoderAndDecoderTogether) {
  using T = TypeParam;
  for (const char* name : {"transformer_post", "transformer_pre"}) {
    SCOPED_TRACE(name);
    const GoldenCase golden(name);
    StackOptions options = stack_options(golden.config());
    NumpyRandom random(1);
    const auto names = [](bool decoder) {
      return [decoder](const std::string& ours) {
        return golden_names(transformer_names(decoder), ours, decoder ? "decoder." : "encoder.");
      };
    };
    Golden<T, TransformerStack<T>> encoder(golden, names(false), options, FirstWeights(random));
    options.causal = options.cross = true;
    Golden<T, TransformerStack<T>> decoder(golden, names(true), options, FirstWeights(random));
    const auto source = golden.as<T>("input.source"), target = golden.as<T>("input.target");
    auto d = golden.as<T>("dout");
    Tensor<T> dcontext(source.shape());
    const auto source_segments = golden.integers("source_segments"),
               target_segments = golden.integers("target_segments");
    Workspace memory;
    Pass pass{memory};
    const auto encoded = encoder.layer.forward(source, {.segments = source_segments}, pass);
    const auto decoded = decoder.layer.forward(
        target,
        {.segments = target_segments, .context = encoded.y, .context_segments = source_segments},
        pass);
    expect_golden<T>(golden, "output", decoded.y);
    decoder.layer.backward(decoded, d, dcontext, decoder.gradient, nullptr, pass);
    encoder.layer.backward(encoded, dcontext, {}, encoder.gradient, nullptr, pass);
    expect_golden<T>(golden, "gradient.input.target", d);
    expect_golden<T>(golden, "gradient.input.source", dcontext);
    encoder.expect_gradients();
    decoder.expect_gradients();
  }
}

TYPED_TEST(GoldenStack, Llama) {
  using T = TypeParam;
  const GoldenCase golden("llama");
  const auto& config = golden.config();
  StackOptions options = stack_options(config);
  options.attention.kv_heads = config["key_heads"].get<std::int64_t>();
  options.activation = Activation::swiglu;
  options.norm = NormKind::rms;
  options.causal = true;
  options.bias = false;
  NumpyRandom random(1);
  Golden<T, TransformerStack<T>> it(
      golden, [](const std::string& ours) { return golden_names(llama_names(), ours, ""); },
      options, FirstWeights(random));
  const std::int64_t width = config["width"].get<std::int64_t>(),
                     heads = config["heads"].get<std::int64_t>();
  PositionModule<T> positions({.schemes = {{"rotary", {{"layout", "half_split"}}}},
                               .width = width,
                               .heads = heads,
                               .head_dim = width / heads});
  const PositionTables<T> tables = positions.tables(16);
  const auto x = golden.as<T>("input.x");
  auto d = golden.as<T>("dout");
  const auto segments = golden.integers("x_segments");
  Workspace memory;
  Pass pass{memory};
  const auto saved = it.layer.forward(x, {.segments = segments, .positions = &tables}, pass);
  expect_golden<T>(golden, "output", saved.y);
  it.layer.backward(saved, d, {}, it.gradient, nullptr, pass);
  expect_golden<T>(golden, "gradient.input.x", d);
  it.expect_gradients();
}

}  // namespace
}  // namespace sextant
