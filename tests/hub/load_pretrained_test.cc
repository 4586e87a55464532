// Models of the hub against what transformers computes of them in float64
// (tests/hub/golden/make_golden.py).
#include "sextant/hub/load_pretrained.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "hub/expected.h"
#include "hub/golden_model.h"
#include "sextant/core/error.h"
#include "sextant/hub/save_pretrained.h"
#include "sextant/models/generate.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void expect_model(const std::string& name, const LanguageModel<float>& model) {
  const Expected expected(name);
  const auto ids = expected.integers("ids");
  Workspace memory;
  Pass pass{memory};
  const auto hidden = expected.numbers("hidden");
  const auto states = model.hidden_states(ids, pass);
  ASSERT_EQ(std::ssize(states), hidden.size(0));
  for (std::int64_t i = 0; i < hidden.size(0); ++i) {
    SCOPED_TRACE("after layer " + std::to_string(i));
    const std::int64_t count = hidden.count() / hidden.size(0);
    expect_near(
        states[static_cast<std::size_t>(i)].span(),
        hidden.span().subspan(static_cast<std::size_t>(i * count), static_cast<std::size_t>(count)),
        model.config);
  }
  if (!expected.has("logits")) return;
  std::vector<std::int64_t> places(ids.size());
  std::iota(places.begin(), places.end(), 0);
  const auto logits = model.logits(TokenBatch::of(ids), places, pass);
  const auto wanted = expected.numbers("logits");
  expect_near(logits.span(), wanted.span(), model.config);
}

// The same tokens as two texts, of types 0 and 1.
void expect_types(const std::string& name, const LanguageModel<float>& model) {
  const Expected expected(name);
  const auto ids = expected.integers("ids"), types = expected.integers("types");
  Workspace memory;
  Pass pass{memory};
  const auto hidden = expected.numbers("typed_hidden");
  const auto states = model.hidden_states(ids, pass, types);
  const auto count = static_cast<std::size_t>(hidden.count() / hidden.size(0));
  for (std::size_t i = 0; i < states.size(); ++i) {
    SCOPED_TRACE("after layer " + std::to_string(i));
    expect_near(states[i].span(), hidden.span().subspan(i * count, count), model.config);
  }
  if (!expected.has("typed_logits")) return;
  std::vector<std::int64_t> places(ids.size());
  std::iota(places.begin(), places.end(), 0);
  const auto wanted = expected.numbers("typed_logits");
  const auto logits = model.logits(TokenBatch::of(ids, types), places, pass);
  expect_near(logits.span(), wanted.span(), model.config);
}

class PretrainedModel : public ::testing::TestWithParam<const char*> {};

TEST_P(PretrainedModel, IsWhatTransformersComputes) {
  expect_model(GetParam(), load_pretrained(golden_folder(GetParam())));
}

class PretrainedModelWithHead : public PretrainedModel {};

TEST_P(PretrainedModelWithHead, GoesOnWithTheSameTokens) {
  const Expected expected(GetParam());
  const auto made = generate(load_pretrained(golden_folder(GetParam())), expected.integers("ids"),
                             {.max_tokens = 64, .sampling = {.temperature = 0}, .never = {}});
  EXPECT_EQ(made.tokens, expected.integers("greedy"));
}

// With a cache, beyond every window, as in one pass over all tokens.
TEST_P(PretrainedModelWithHead, SaysOfEachTokenWhatItSaysOfAll) {
  const auto model = load_pretrained(golden_folder(GetParam()));
  std::vector<std::int64_t> ids = Expected(GetParam()).integers("ids");
  std::vector<std::vector<float>> steps;
  GenerateOptions options{.max_tokens = 20, .sampling = {.temperature = 0}, .never = {}};
  options.watch = [&steps](const GeneratedToken& token) {
    steps.emplace_back(token.logits.begin(), token.logits.end());
  };
  std::vector<std::int64_t> places(20);
  std::iota(places.begin(), places.end(), std::ssize(ids) - 1);
  const auto made = generate(model, ids, options).tokens;
  ids.insert(ids.end(), made.begin(), made.end());
  Workspace memory;
  Pass pass{memory};
  const auto logits = model.logits(TokenBatch::of(ids), places, pass);
  const std::vector<double> all(logits.span().begin(), logits.span().end());
  const std::size_t vocabulary = steps.at(0).size();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    SCOPED_TRACE(i);
    expect_near(steps[i], std::span(all).subspan(i * vocabulary, vocabulary), model.config);
  }
}

const auto name_of_case = [](const auto& each) { return std::string(each.param); };
const auto kCausal = ::testing::Values(
    "bloom", "codegen", "cohere", "cohere2", "falcon", "falcon_alibi", "falcon_heads", "falcon_new",
    "gemma", "gemma2", "gemma3", "glm", "glm4", "gpt2", "gpt2_by_layer", "gpt_neox",
    "gpt_neox_series", "gptj", "granite", "llama", "llama_bias", "llama_out_bias", "mistral", "mpt",
    "olmo", "olmo2", "olmo3", "opt", "opt_post", "phi", "phi3", "qwen2", "qwen2_windows", "qwen3",
    "smollm3", "stablelm", "stablelm_parallel", "starcoder2");
INSTANTIATE_TEST_SUITE_P(Families, PretrainedModel, kCausal, name_of_case);
INSTANTIATE_TEST_SUITE_P(Encoders, PretrainedModel,
                         ::testing::Values("bert", "bert_masked", "deberta_v2", "deberta_v2_maps",
                                           "distilbert", "modernbert", "roberta"),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Families, PretrainedModelWithHead, kCausal, name_of_case);

TEST(TokenTypes, AreThoseOfTransformers) {
  for (const char* name : {"bert", "bert_masked"}) {
    SCOPED_TRACE(name);
    const auto model = load_pretrained(golden_folder(name));
    expect_types(name, model);
    const TemporaryFolder place;
    save_pretrained(model, place / "again");
    const auto again = load_pretrained(place / "again");
    EXPECT_EQ(again.config.token_types, 2);
    expect_types(name, again);
    expect_model(name, again);
  }
}

TEST(TokenTypes, AreRefusedOutsideTheModelsOwn) {
  const auto bert = load_pretrained(golden_folder("bert"));
  const auto gpt2 = load_pretrained(golden_folder("gpt2"));
  Workspace memory;
  Pass pass{memory};
  const std::vector<std::int64_t> ids = {1, 2}, types = {0, 2}, one = {1}, second = {0, 1};
  const auto refused = [](const std::string& what) {
    return ThrowsMessage<Error>(HasSubstr("[batch.types] must be " + what));
  };
  EXPECT_THAT([&] { bert.hidden_states(ids, pass, types); }, refused("0 .. 1, got 2"));
  EXPECT_THAT([&] { bert.attention_maps(ids, pass, {}, one); },
              refused("one per token, 2, or none, got 1"));
  EXPECT_THAT([&] { gpt2.hidden_states(ids, pass, second); },
              refused("0, the only type of the model, got 1"));
}

// A model of an earlier version has no row of type 1.
TEST(TokenTypes, MayBeFewerThanThoseOfTheFolderThatIsLike) {
  LanguageModel<float> model = load_pretrained(golden_folder("bert"));
  model.config.token_types = 1;
  model.type_rows = {};
  const TemporaryFolder place;
  save_pretrained(model, place / "again", {.like = golden_folder("bert")});
  const auto again = load_pretrained(place / "again");
  EXPECT_EQ(again.config.token_types, 2);
  EXPECT_TRUE(std::ranges::all_of(again.type_rows.span(), [](float x) { return x == 0; }));
  expect_model("bert", again);
}

TEST(ReadAs, TakesAnUnknownTypeForOneThatIsKnown) {
  ChangedModel model("llama");
  model.config["model_type"] = "llamaish";
  model.config["architectures"] = Json::array({"LlamaishForCausalLM"});
  const std::string folder = model.write();
  EXPECT_THAT([&] { load_pretrained(folder); },
              ThrowsMessage<Error>(HasSubstr("got 'llamaish'; read_as reads it as one of them")));
  expect_model("llama", load_pretrained(folder, "llama"));
  EXPECT_THAT([&] { load_pretrained(folder, "lama"); },
              ThrowsMessage<Error>(HasSubstr("[model_config.read_as] must be one of ")));
  // What the known type has no key or tensor for is refused as ever.
  EXPECT_THAT(
      [&] { load_pretrained(folder, "qwen2"); },
      ThrowsMessage<Error>(HasSubstr("must hold the tensor layers.0.self_attn.q_proj.bias")));
  // A key that the known type has and does not use may mean something in the other.
  model.config["sliding_window"] = 5;
  EXPECT_THAT([&] { load_pretrained(model.write(), "llama"); },
              ThrowsMessage<Error>(HasSubstr("sliding_window")));
}

TEST(PretrainedNames, MayLackThePrefixOrHaveIt) {
  ChangedModel gpt2("gpt2"), llama("llama"), bert("bert");
  gpt2.rename_beginnings("transformer.", "");
  llama.rename_beginnings("model.", "");
  bert.rename_beginnings("", "bert.");
  expect_model("gpt2", load_pretrained(gpt2.write()));
  expect_model("llama", load_pretrained(llama.write()));
  expect_model("bert", load_pretrained(bert.write()));
  gpt2.tensors["transformer.ln_f.bias"] = zeros({16});
  EXPECT_THAT(
      [&] { load_pretrained(gpt2.write()); },
      ThrowsMessage<Error>(HasSubstr("must not hold both ln_f.bias and transformer.ln_f.bias")));
}

TEST(PretrainedNames, OfBuffersAndHeadsAreKnown) {
  ChangedModel gpt2("gpt2"), llama("llama"), bert("bert");
  gpt2.tensors["transformer.h.0.attn.bias"] = zeros({1, 1, 80, 80});
  gpt2.tensors["transformer.h.1.attn.masked_bias"] = zeros({});
  llama.tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = zeros({3});
  bert.tensors["embeddings.position_ids"] = zeros({1, 24});
  bert.tensors["cls.predictions.bias"] = zeros({48});
  expect_model("gpt2", load_pretrained(gpt2.write()));
  expect_model("llama", load_pretrained(llama.write()));
  expect_model("bert", load_pretrained(bert.write()));
}

TEST(PretrainedNames, MayBeThoseOfEarlyBerts) {
  ChangedModel bert("bert");
  for (const std::string& name : bert.names()) {
    if (name.ends_with("LayerNorm.weight"))
      bert.rename(name, name.substr(0, name.size() - 6) + "gamma");
    if (name.ends_with("LayerNorm.bias"))
      bert.rename(name, name.substr(0, name.size() - 4) + "beta");
  }
  expect_model("bert", load_pretrained(bert.write()));
}

TEST(PretrainedHead, OfATiedModelIsTheEmbedding) {
  ChangedModel gpt2("gpt2");
  gpt2.tensors["lm_head.weight"] =
      std::move(ChangedModel("gpt2").tensors.at("transformer.wte.weight"));
  expect_model("gpt2", load_pretrained(gpt2.write()));
  gpt2.tensors.at("lm_head.weight").bytes.data()[4] ^= std::byte{1};
  EXPECT_THAT([&] { load_pretrained(gpt2.write()); },
              ThrowsMessage<Error>(HasSubstr("must hold lm_head.weight equal to "
                                             "transformer.wte.weight, because config.json says")));
}

TEST(PretrainedHead, IsNotInventedWhereThereIsNone) {
  ChangedModel llama("llama");
  llama.tensors.erase("lm_head.weight");
  EXPECT_THAT([&] { load_pretrained(llama.write()); },
              ThrowsMessage<Error>(HasSubstr("must hold the tensor lm_head.weight")));
  llama.config["architectures"] = Json::array({"LlamaModel"});
  const auto bare = load_pretrained(llama.write());
  const auto bert = load_pretrained(golden_folder("bert"));
  Workspace memory;
  Pass pass{memory};
  const std::vector<std::int64_t> ids = {0, 1, 2};
  for (const auto* model : {&bare, &bert}) {
    EXPECT_EQ(model->hidden_states(ids, pass).size(), 3);
    const auto refused = ThrowsMessage<Error>(HasSubstr("this one has hidden states alone"));
    EXPECT_THAT([&] { model->logits(TokenBatch::of(ids), ids, pass); }, refused);
    EXPECT_THAT([&] { model->layer_logits(ids, pass); }, refused);
    EXPECT_THAT([&] { model->log_likelihoods(TokenBatch::of(ids), pass); }, refused);
  }
  EXPECT_THAT([&] { generate(bare, ids, {}); },
              ThrowsMessage<Error>(HasSubstr("this one has hidden states alone")));
}

TEST(PretrainedConfig, OfADecoderSeesNoLaterToken) {
  ChangedModel bert("bert");
  bert.config["is_decoder"] = true;
  const auto model = load_pretrained(bert.write());
  EXPECT_EQ(model.config.kind, ModelKind::causal);
  Workspace memory;
  Pass pass{memory};
  const std::vector<std::int64_t> ids = {3, 1, 4, 1}, other = {3, 1, 4, 20};
  const auto a = model.hidden_states(ids, pass), b = model.hidden_states(other, pass);
  const auto x = a.back().span(), y = b.back().span();
  EXPECT_TRUE(std::ranges::equal(x.first(3 * 16), y.first(3 * 16)));
  EXPECT_FALSE(std::ranges::equal(x, y));
}

TEST(PretrainedPositions, OfPaddingAreLeftOut) {
  EXPECT_EQ(load_pretrained(golden_folder("roberta")).positions.max_length(), 24 - 3);
  EXPECT_EQ(load_pretrained(golden_folder("opt")).positions.max_length(), 128);
  const auto model = load_pretrained(golden_folder("roberta"));
  EXPECT_EQ(model.config.schemes, (SchemeSpecs{"learned"}));
}

TEST(PretrainedPositions, DifferBetweenLayers) {
  const auto gemma = load_pretrained(golden_folder("gemma3")).config;
  const auto window = [](const SchemeSpecs& list) { return list.back(); };
  const SchemeSpec four("window", {{"left", "4"}});
  EXPECT_EQ(window(gemma.schemes), four);
  ASSERT_EQ(gemma.layer_schemes.size(), 1u);
  EXPECT_EQ(gemma.layer_schemes[0].layers, std::vector<std::int64_t>{2});
  EXPECT_EQ(gemma.layer_schemes[0].schemes.size(), 1u);
  EXPECT_NE(gemma.layer_schemes[0].schemes[0], gemma.schemes[0]);

  const auto cohere = load_pretrained(golden_folder("cohere2")).config;
  ASSERT_EQ(cohere.layer_schemes.size(), 1u);
  EXPECT_EQ(cohere.layer_schemes[0].schemes, SchemeSpecs{"none"});
  EXPECT_EQ(window(cohere.schemes), four);
}

TEST(PretrainedNames, OfRobertasKinAreTheSame) {
  for (const auto& [type, head] : std::vector<std::pair<const char*, const char*>>{
           {"xlm-roberta", "XLMRobertaForMaskedLM"}, {"camembert", "CamembertForMaskedLM"}}) {
    ChangedModel roberta("roberta");
    roberta.config["model_type"] = type;
    roberta.config["architectures"] = Json::array({head});
    expect_model("roberta", load_pretrained(roberta.write()));
  }
}

TEST(PretrainedHead, OfAMaskedModelIsReadForItsClassAlone) {
  ChangedModel roberta("roberta");
  roberta.tensors["lm_head.decoder.bias"] = zeros({48});  // the bias once more
  expect_model("roberta", load_pretrained(roberta.write()));
  roberta.config["architectures"] = Json::array({"RobertaModel"});
  EXPECT_FALSE(load_pretrained(roberta.write()).config.logits);

  ChangedModel untied("bert_masked");
  untied.config["tie_word_embeddings"] = false;
  EXPECT_THAT([&] { load_pretrained(untied.write()); },
              ThrowsMessage<Error>(HasSubstr("must hold the tensor cls.predictions.decoder")));
  untied.tensors["cls.predictions.decoder.weight"] =
      std::move(ChangedModel("bert_masked").tensors.at("bert.embeddings.word_embeddings.weight"));
  expect_model("bert_masked", load_pretrained(untied.write()));
}

TEST(PretrainedPositions, EndWhereTheTableDoes) {
  const auto model = load_pretrained(golden_folder("gpt2"));
  EXPECT_EQ(model.positions.max_length(), 80);
  Workspace memory;
  Pass pass{memory};
  EXPECT_THROW(model.hidden_states(std::vector<std::int64_t>(81, 5), pass), Error);
}

}  // namespace
}  // namespace sextant
