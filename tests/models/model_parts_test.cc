// Models with the parts that published ones have: gradients, decoding, config.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "models/tiny_model.h"
#include "sextant/models/generate.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Part {
  const char* name;
  std::function<void(TransformerConfig&)> set;
};

const std::vector<Part>& parts() {
  static const std::vector<Part> all = {
      {"Gemma 2",
       [](TransformerConfig& c) {
         c.norm = NormKind::rms;
         c.activation = Activation::geglu_tanh;
         c.bias = false;
         c.output_norm = true;
         c.attention_scale = 0.7;
         c.attention_softcap = 2;
         c.logits_softcap = 1.5;
         c.layer_schemes = {{{0}, {"rotary", {"window", {{"left", "2"}}}}}};
       }},
      {"OLMo 2",
       [](TransformerConfig& c) {
         c.norm = NormKind::rms;
         c.activation = Activation::swiglu;
         c.bias = false;
         c.pre_norm = false;
         c.output_norm = true;
         c.qk_norm = QkNorm::all;
         c.tied = false;
       }},
      {"Cohere",
       [](TransformerConfig& c) {
         c.parallel_blocks = ParallelBlocks::one_norm;
         c.bias = false;
         c.out_bias = true;
         c.logits_scale = 0.5;
       }},
      {"GPT-NeoX",
       [](TransformerConfig& c) {
         c.parallel_blocks = ParallelBlocks::two_norms;
         c.tied = false;
         c.logits_bias = true;
       }},
      {"a masked head",
       [](TransformerConfig& c) {
         c.kind = ModelKind::masked;
         c.pre_norm = c.final_norm = false;
         c.logits_transform = c.logits_bias = true;
         c.logits_scale = 1.25;
         c.logits_softcap = 3;
       }},
      {"ModernBERT",
       [](TransformerConfig& c) {
         c.kind = ModelKind::masked;
         c.activation = Activation::geglu;
         c.embedding_norm = true;
         c.first_norm = false;
         c.logits_transform = true;
         c.layer_schemes = {{{1}, {"rotary", {"window", {{"left", "1"}, {"right", "1"}}}}}};
       }},
      {"layers that learn vectors of their own",
       [](TransformerConfig& c) {
         c.qk_norm = QkNorm::head;
         c.layer_schemes = {{{1}, {"none"}}, {{0}, {"shaw"}}};
       }},
  };
  return all;
}

TransformerConfig config_of(const Part& part) {
  TransformerConfig config = tiny(ModelKind::causal);
  config.layers = 2;
  config.norm_epsilon = 0.1;  // with less, rows of alike channels are too curved for differences
  part.set(config);
  return config;
}

TEST(ModelParts, HaveTheirGradients) {
  for (const Part& part : parts()) {
    SCOPED_TRACE(part.name);
    expect_model_gradients<LanguageModel<double>>(config_of(part), two_sentences());
  }
}

TEST(ModelParts, ComeBackFromTheirJson) {
  for (const Part& part : parts()) {
    SCOPED_TRACE(part.name);
    const std::string json = format_config(config_of(part));
    EXPECT_EQ(format_config(parse_config(json)), json);
    LanguageModel<float> model(config_of(part)), read(parse_config(json));
    const auto wanted = model.parameters(), found = read.parameters();
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].name, wanted[i].name);
  }
}

TEST(ModelParts, GiveTheSameLogitsStepByStep) {
  for (const Part& part : parts()) {
    SCOPED_TRACE(part.name);
    const TransformerConfig config = config_of(part);
    if (config.kind != ModelKind::causal) continue;
    const LanguageModel<float> model(config);
    std::vector<std::vector<float>> steps;
    GenerateOptions options{.max_tokens = 5, .sampling = {.temperature = 0}, .never = {}};
    options.watch = [&steps](const GeneratedToken& step) {
      steps.emplace_back(step.logits.begin(), step.logits.end());
    };
    std::vector<std::int64_t> tokens = {1, 7, 5};
    const auto made = generate(model, tokens, options).tokens;
    tokens.insert(tokens.end(), made.begin(), made.end());
    Workspace memory;
    Pass pass{.memory = memory, .threads = 1};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::int64_t place[] = {static_cast<std::int64_t>(i) + 2};
      const Tensor<float> all = model.logits(TokenBatch::of(tokens), place, pass);
      for (std::int64_t t = 0; t < config.vocabulary; ++t) {
        ASSERT_NEAR(steps[i][static_cast<std::size_t>(t)], all(0, t), 1e-5);
      }
    }
  }
}

// Each layer's logits, the likelihoods and the loss are of the same logits.
TEST(ModelParts, HaveOneKindOfLogits) {
  for (const Part& part : parts()) {
    SCOPED_TRACE(part.name);
    LanguageModel<double> model(config_of(part));
    NumpyRandom random(4);
    for (double& x : model.output_bias.span()) x = random.normal();
    Workspace memory;
    Pass pass{.memory = memory, .threads = 1};
    const TokenBatch batch{{1, 4, 6, 3}, {0, 4}, {4, 6, 3, 2}};
    const std::vector<std::int64_t> places = {0, 1, 2, 3};
    const Tensor<double> logits = model.logits(batch, places, pass);
    EXPECT_TRUE(
        std::ranges::equal(model.layer_logits(batch.tokens, pass).back().span(), logits.span()));
    const Tensor<double> said = model.log_likelihoods(batch, pass);
    double loss = 0;
    for (std::int64_t i = 0; i < 4; ++i) {
      double sum = 0;
      for (std::int64_t t = 0; t < 11; ++t) sum += std::exp(logits(i, t));
      const double wanted = logits(i, batch.targets[static_cast<std::size_t>(i)]) - std::log(sum);
      EXPECT_NEAR(said(i), wanted, 1e-12);
      loss -= wanted;
    }
    EXPECT_NEAR(model.loss(batch, {}, nullptr, pass).loss, loss, 1e-12);
  }
}

TEST(ModelParts, MakeLogitsAsTheyAreTold) {
  TransformerConfig config = tiny(ModelKind::causal);
  const LanguageModel<double> plain(config);
  config.logits_scale = 4;
  config.logits_softcap = 2;
  config.logits_bias = true;
  LanguageModel<double> changed(config);
  for (double& x : changed.output_bias.span()) x = 0.25;
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const std::vector<std::int64_t> places = {6};
  const Tensor<double> before = plain.logits(two_sentences(), places, pass),
                       after = changed.logits(two_sentences(), places, pass);
  for (std::int64_t t = 0; t < 11; ++t) {
    EXPECT_NEAR(after(0, t), 2 * std::tanh(4 * (before(0, t) + 0.25) / 2), 1e-12);
  }
}

TEST(ModelParts, LoseThePositionsOfAllLayers) {
  LanguageModel<double> model(config_of(parts().front()));
  model.replace_schemes({"none"});
  EXPECT_TRUE(model.config.layer_schemes.empty());
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const std::vector<std::int64_t> a = {3, 5, 6, 7, 8, 4}, b = {7, 6, 5, 3, 8, 4};
  const auto last = [&](const std::vector<std::int64_t>& tokens) {
    return copy_of(model.hidden_states(tokens, pass).at(1).view().narrow(0, 5, 1));
  };
  const Tensor<double> x = last(a), y = last(b);
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_NEAR(x(0, i), y(0, i), 1e-12);
}

// Kinds of layers that are gone take their weights along; the others keep theirs.
TEST(ModelParts, ReplacePositionsOfSomeLayersAlone) {
  TransformerConfig c = config_of(parts().front());
  c.layers = 4;
  c.schemes = {"t5"};
  c.layer_schemes = {{{1}, {"shaw"}}, {{2}, {"t5"}}};
  LanguageModel<double> model(c);
  c.layer_schemes = {{{2}, {"t5"}}, {{1, 3}, {"rotary"}}};
  LanguageModel<double> wanted(c);
  const auto from = model.parameters(), to = wanted.parameters();
  for (const auto& each : to) {
    const std::string name =
        each.name.starts_with("positions.1.") ? "positions.2." + each.name.substr(12) : each.name;
    const auto found = std::ranges::find(from, name, [](const auto& one) { return one.name; });
    ASSERT_NE(found, from.end()) << name;
    std::ranges::copy(found->tensor->span(), each.tensor->data());
  }
  model.replace_schemes({"rotary"}, std::vector<std::int64_t>{1, 3});
  EXPECT_EQ(format_config(model.config), format_config(wanted.config));
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const std::vector<std::int64_t> tokens = {3, 5, 6, 7, 8, 4};
  const auto got = model.hidden_states(tokens, pass), expected = wanted.hidden_states(tokens, pass);
  EXPECT_TRUE(std::ranges::equal(got.back().span(), expected.back().span()));

  EXPECT_THROW(model.replace_schemes({"none"}, std::vector<std::int64_t>{4}), Error);
  EXPECT_THROW(model.replace_schemes({"none"}, std::vector<std::int64_t>{1, 1}), Error);
  EXPECT_THROW(model.replace_schemes({"sinusoidal"}, std::vector<std::int64_t>{1}), Error);
}

TEST(ModelParts, ThatDoNotFitAreRefused) {
  struct Case {
    const char* key;
    std::function<void(TransformerConfig&)> set;
    ModelKind kind = ModelKind::causal;
  };
  const auto translator = ModelKind::translator;
  for (const auto& [key, set, kind] : std::vector<Case>{
           {"parallel_blocks",
            [](auto& c) {
              c.parallel_blocks = ParallelBlocks::one_norm;
              c.pre_norm = false;
            }},
           {"parallel_blocks",
            [](auto& c) {
              c.parallel_blocks = ParallelBlocks::two_norms;
              c.output_norm = true;
            }},
           {"layer_schemes",
            [](auto& c) {
              c.layer_schemes = {{{1}, {"none"}}};
            }},
           {"layer_schemes",
            [](auto& c) {
              c.layer_schemes = {{{-1}, {"none"}}};
            }},
           {"layer_schemes",
            [](auto& c) {
              c.layer_schemes = {{{}, {"none"}}};
            }},
           {"layer_schemes",
            [](auto& c) {
              c.layer_schemes = {{{0}, {"learned"}}};
            }},
           {"layer_schemes",
            [](auto& c) {
              c.layer_schemes = {{{0}, {"none"}}, {{0}, {"rotary"}}};
            }},
           {"first_norm",
            [](auto& c) {
              c.first_norm = false;
              c.pre_norm = false;
            }},
           {"first_norm", [](auto& c) { c.first_norm = false; }, translator},
           {"attention_scale", [](auto& c) { c.attention_scale = -1; }},
           {"attention_softcap", [](auto& c) { c.attention_softcap = NAN; }},
           {"logits_scale", [](auto& c) { c.logits_scale = 0; }},
           {"logits_scale", [](auto& c) { c.pointer = true, c.logits_scale = 2; }, translator},
           {"logits_bias", [](auto& c) { c.pointer = c.logits_bias = true; }, translator},
           {"logits_softcap", [](auto& c) { c.pointer = true, c.logits_softcap = 2; }, translator},
           {"target_start", [](auto& c) { c.target_start = {}; }, translator},
           {"target_start",
            [](auto& c) {
              c.target_start = {1, 11};
            },
            translator},
           {"target_end", [](auto& c) { c.target_end = 11; }, translator},
           {"decoder_schemes", [](auto& c) { c.decoder_schemes = {"rotary"}; }},
           {"logits_transform", [](auto& c) { c.logits_transform = true; }, translator},
           {"layer_schemes",
            [](auto& c) {
              c.layer_schemes = {{{0}, {"none"}}};
            },
            translator},
           {"parallel_blocks", [](auto& c) { c.parallel_blocks = ParallelBlocks::one_norm; },
            translator}}) {
    SCOPED_TRACE(key);
    TransformerConfig config = tiny(kind);
    set(config);
    EXPECT_THAT([&] { check_config(config); },
                ThrowsMessage<Error>(HasSubstr("transformer." + std::string(key))));
  }
}

TEST(Translator, HasTheGradientsOfNormsOfResultsAndOfQAndK) {
  TransformerConfig config = tiny(ModelKind::translator);
  config.output_norm = true;
  config.norm_epsilon = 0.1;
  config.qk_norm = QkNorm::head;
  config.attention_softcap = 2;
  expect_model_gradients<Translator<double>>(
      config, PairBatch{{4, 7, 2, 5, 2, 7}, {0, 3, 6}, two_sentences()});
}

}  // namespace
}  // namespace sextant
