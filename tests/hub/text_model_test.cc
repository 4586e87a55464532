// Folders of the hub with their tokenizer: what a text becomes, and what comes out of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hub/text_folder.h"
#include "sextant/core/error.h"
#include "sextant/hub/load_pretrained.h"
#include "sextant/models/generate.h"
#include "sextant/models/logit_lens.h"
#include "sextant/models/text_model.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(TextModelOfTheHub, GoesOnWithTheTextOfTheTokens) {
  const TextModel model = TextModel::load(open_model(TextFolder("gpt2").write()));
  const std::string prompt = model.tokenizer.decode(integers("gpt2", "ids"));
  std::string shown;
  const std::string made =
      generate(model, prompt, {.max_tokens = 64, .sampling = {.temperature = 0}},
               [&](std::string_view part) { shown += part; });
  EXPECT_EQ(made, " " + model.tokenizer.decode(integers("gpt2", "greedy")));
  EXPECT_EQ(shown, made);
}

TEST(TextModelOfTheHub, EndsWhereItsConfigSays) {
  TextFolder folder("gpt2");
  const auto greedy = integers("gpt2", "greedy");
  folder.config["eos_token_id"] = greedy[5];
  const TextModel model = TextModel::load(open_model(folder.write()));
  const auto found = std::ranges::find(greedy, greedy[5]) - greedy.begin();
  const auto made = generate(model, integers("gpt2", "ids"),
                             for_text(model, {.max_tokens = 64, .sampling = {.temperature = 0}}));
  EXPECT_EQ(made.ended_by, GenerationEnd::end);
  EXPECT_EQ(std::ssize(made.tokens), found);
}

// Rows of the embedding without a token are never written.
TEST(TextModelOfTheHub, WritesTokensOfItsTokenizerAlone) {
  const TextModel model = TextModel::load(open_model(TextFolder("gpt2", words(40)).write()));
  EXPECT_EQ(model.config.vocabulary, 48);
  const GenerateOptions options =
      for_text(model, {.max_tokens = 64, .sampling = {.temperature = 50}});
  for (const std::int64_t token : generate(model, std::vector<std::int64_t>{1}, options).tokens) {
    EXPECT_LT(token, 40);
  }
  const LogitLens lens = logit_lens(model, "w1 w2", {.top_k = 48});
  EXPECT_EQ(lens.predictions.back().front().size(), 48u);
  EXPECT_EQ(model.tokenizer.piece_or_number(47), "<47>");
}

TEST(TextModelOfTheHub, ReadsTheTokensAroundAText) {
  const std::string around = R"({"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "w3", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"w3": {"id": "w3", "ids": [3], "tokens": ["w3"]}}})";
  const TextModel model =
      TextModel::load(open_model(TextFolder("llama", words(48, around)).write()));
  EXPECT_THAT(model.tokenizer.model_input("w7 w8").ids, ::testing::ElementsAre(3, 7, 8));
  EXPECT_THAT(logit_lens(model, "w7 w8").read, ::testing::ElementsAre(3, 7, 8));
}

TEST(TextModelOfTheHub, IsSavedAsAModelOfThisLibrary) {
  TextFolder folder("qwen2");
  folder.config["eos_token_id"] = 5;
  const TextModel model = TextModel::load(open_model(folder.write()));
  const TemporaryFolder copy;
  model.save(copy / "");
  const TextModel again = TextModel::load(open_model(copy / ""));
  EXPECT_EQ(again.tokenizer.special().ends, std::vector<std::int64_t>{5});
  const auto first = model.parameters(), second = again.parameters();
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(first[i].tensor->span(), second[i].tensor->span()))
        << first[i].name;
  }
  const auto ids = integers("qwen2", "ids");
  Workspace memory;
  Pass pass{.memory = memory};
  const auto a = model.hidden_states(ids, pass), b = again.hidden_states(ids, pass);
  EXPECT_TRUE(std::ranges::equal(a.back().span(), b.back().span()));
}

TEST(OpenModel, OpensFoldersOfThisLibraryToo) {
  const TemporaryFolder folder;
  const std::vector<std::string> texts = {"to be or not to be"};
  TransformerConfig config;
  config.width = 8;
  config.heads = 2;
  TextModel(config, Tokenizer::train(texts)).save(folder / "");
  EXPECT_EQ(open_model(folder / "").tokenizer.kind(), TokenizerKind::word);
  EXPECT_THAT([&] { open_model(folder / "none"); },
              ThrowsMessage<Error>(HasSubstr("must be a model's folder")));
}

TEST(OpenModel, RefusesAFolderWithoutATokenizerThatFits) {
  const ChangedModel none("gpt2");
  EXPECT_THAT([&] { open_model(none.write()); },
              ThrowsMessage<Error>(HasSubstr("must have tokenizer.json")));
  const TextFolder larger("gpt2", words(49));
  EXPECT_THAT([&] { open_model(larger.write()); },
              ThrowsMessage<Error>(HasSubstr("a vocab_size of the tokenizer's 49 tokens or more")));
}

TEST(WordVectorsOfTheHub, AreTheRowsOfItsWords) {
  const TextFolder published("gpt2");
  const std::string folder = published.write();
  const WordVectors vectors = learned_word_vectors(open_model(folder));
  const LanguageModel<float> model = load_pretrained(folder);
  EXPECT_EQ(vectors.width(), model.config.width);
  ASSERT_EQ(vectors.words().size(), 48u);
  EXPECT_EQ(vectors.words()[7], "w7");
}

}  // namespace
}  // namespace sextant
