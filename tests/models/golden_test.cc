// Whole models against what PyTorch computes, from tokens to the loss and back to every parameter:
// tests/layers/golden/make_golden.py.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "layers/golden_layer.h"
#include "sextant/models/language_model.h"
#include "sextant/models/translator.h"

namespace sextant {
namespace {

template <class T>
class GoldenModels : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GoldenModels, Reals);

TransformerConfig config_of(const Json& json, ModelKind kind) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = json["tokens"].get<std::int64_t>();
  config.width = json["width"].get<std::int64_t>();
  config.heads = json["heads"].get<std::int64_t>();
  config.layers = json["layers"].get<std::int64_t>();
  config.ffn_width = json["hidden"].get<std::int64_t>();
  config.schemes = {"sinusoidal"};
  return config;
}

std::vector<std::int64_t> list_of(const Json& json) {
  return json.get<std::vector<std::int64_t>>();
}

TokenBatch target_of(const GoldenCase& golden) {
  return {list_of(golden.config()["target"]), golden.integers("target_segments"),
          list_of(golden.config()["next"])};
}

// The rest of a name behind `part`, by the rules of a stack; other names are theirs too.
Naming stack_names(const std::string& part, const GoldenNames& rules) {
  return [=](const std::string& ours) {
    if (!ours.starts_with(part)) return std::vector<std::string>{ours};
    return golden_names(rules, std::string_view(ours).substr(part.size()), part);
  };
}

// The loss and the gradients of all parameters.
template <class T, class Model, class Batch>
void expect_model(const GoldenCase& golden, const TransformerConfig& config, const Batch& batch,
                  const Naming& names) {
  Golden<T, Model> it(golden, names, config);
  Workspace memory;
  Pass pass{memory};
  const TokenLossOptions options{
      .label_smoothing = golden.config()["smoothing"].template get<double>(),
      .scale = golden["dout"](0)};
  const LossSum sum = it.layer.loss(batch, options, &it.gradient, pass);
  EXPECT_EQ(sum.tokens, 7);
  EXPECT_NEAR(sum.smoothed, golden["output"](0), golden.tolerance<T>() * golden["output"](0));
  it.expect_gradients();
}

TYPED_TEST(GoldenModels, CausalLanguageModel) {
  const GoldenCase golden("language_model");
  TransformerConfig config = config_of(golden.config(), ModelKind::causal);
  config.kv_heads = golden.config()["key_heads"].template get<std::int64_t>();
  config.activation = Activation::swiglu;
  config.norm = NormKind::rms;
  config.bias = config.tied = false;
  config.schemes = {{"rotary", {{"layout", "half_split"}}}};
  expect_model<TypeParam, LanguageModel<TypeParam>>(golden, config, target_of(golden),
                                                    stack_names("stack.", llama_names()));
}

TYPED_TEST(GoldenModels, MaskedLanguageModel) {
  const GoldenCase golden("masked_model");
  expect_model<TypeParam, LanguageModel<TypeParam>>(
      golden, config_of(golden.config(), ModelKind::masked), target_of(golden),
      stack_names("stack.", transformer_names(false)));
}

TYPED_TEST(GoldenModels, TranslatorWithAndWithoutPointer) {
  for (const char* name : {"translator", "translator_pointer"}) {
    SCOPED_TRACE(name);
    const GoldenCase golden(name);
    TransformerConfig config = config_of(golden.config(), ModelKind::translator);
    config.activation =
        parse_name<Activation>(golden.config()["activation"].template get<std::string>(), "config");
    config.pre_norm = golden.config()["norm"] == "pre";
    config.pointer = golden.config()["pointer"].template get<bool>();
    const PairBatch batch{list_of(golden.config()["source"]), golden.integers("source_segments"),
                          target_of(golden)};
    const Naming encoder = stack_names("encoder.", transformer_names(false)),
                 decoder = stack_names("decoder.", transformer_names(true));
    expect_model<TypeParam, Translator<TypeParam>>(
        golden, config, batch, [&](const std::string& ours) {
          return ours.starts_with("decoder.") ? decoder(ours) : encoder(ours);
        });
  }
}

}  // namespace
}  // namespace sextant
