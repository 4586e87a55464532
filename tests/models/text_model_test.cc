// Models with their tokenizer: what is saved, and where a text ends.
#include "sextant/models/text_model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "sextant/core/error.h"
#include "sextant/models/generate.h"

namespace sextant {
namespace {

Tokenizer letters() {
  return Tokenizer::train(std::vector<std::string>{"abc"}, {.kind = TokenizerKind::character});
}

const TransformerConfig kSmall{.width = 8, .heads = 2, .layers = 1, .tied = false};

TEST(TextModel, HasTheVocabularyOfItsTokenizer) {
  EXPECT_EQ(TextModel(kSmall, letters()).config.vocabulary, letters().size());
  TransformerConfig masked = kSmall;
  masked.kind = ModelKind::masked;
  EXPECT_EQ(TextModel(masked, letters()).config.vocabulary, letters().size() + 1);
  EXPECT_THROW(TextTranslator(kSmall, letters()), Error);
}

TEST(TextModel, ComesBackFromItsFolder) {
  const std::string folder = testing::TempDir() + "text_model-" + std::to_string(::getpid());
  const TextModel model(kSmall, letters());
  model.save(folder + "/deep/inside");
  const TextModel loaded = TextModel::load(folder + "/deep/inside");
  EXPECT_EQ(loaded.tokenizer, model.tokenizer);
  EXPECT_EQ(format_config(loaded.config), format_config(model.config));
  const auto wanted = model.parameters(), found = loaded.parameters();
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(found[i].tensor->span(), wanted[i].tensor->span()));
  }
  std::filesystem::remove_all(folder);
  EXPECT_THROW(TextModel::load(folder), Error);
}

// The last norm gives the same vector for every token; its products with the rows of <eos> and c
// are 1 and 1/2, those with the others 0. A token that has come is then all but impossible.
TEST(TextModel, EndsATextAtItsEnd) {
  TextModel model(kSmall, letters());
  model.stack.final_norm->gain = Tensor<float>({8});
  model.stack.final_norm->bias = Tensor<float>({8});
  model.stack.final_norm->bias(0) = 1;
  std::ranges::fill(model.output.span(), 0.0F);
  const std::int64_t c = model.tokenizer.encode("c")[0];
  model.output(Tokenizer::kEos, 0) = 1;
  model.output(c, 0) = 0.5;
  GenerateOptions options{
      .max_tokens = 2, .sampling = {.repetition_penalty = 1000, .temperature = 0}, .threads = 1};
  const std::vector<std::int64_t> both = {Tokenizer::kEos, c};
  EXPECT_EQ(generate(model, model.tokenizer.encode("ab"), options).tokens, both);
  EXPECT_EQ(generate(model, "ab", options), "");
  options.ends = {c};  // <eos> is a token like others then, which has no text
  model.output(c, 0) = 2;
  EXPECT_EQ(generate(model, model.tokenizer.encode("ab"), options).tokens.size(), 0U);
  options.ends = {Tokenizer::kUnk};
  EXPECT_EQ(generate(model, "ab", options), "c");
}

}  // namespace
}  // namespace sextant
