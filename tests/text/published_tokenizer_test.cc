// Tokenizers of published models where a model's tokenizer is wanted: streams, folders, labels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/json/json.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/text/text_decoder.h"
#include "sextant/text/tokenizer.h"
#include "support/error_of.h"
#include "support/folders.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string golden(const std::string& name) {
  return read_file(tests::data_folder() + "/text/pretrained/" + name + ".json");
}

Tokenizer tokenizer_of(const std::string& name) { return Tokenizer::parse(golden(name)); }

class PublishedTokenizer : public testing::TestWithParam<const char*> {};

TEST_P(PublishedTokenizer, GivesTheIdsOfItsOwnClass) {
  const std::string json = golden(GetParam());
  const PretrainedTokenizer alone = PretrainedTokenizer::parse(json);
  const Tokenizer tokenizer = Tokenizer::parse(json);
  EXPECT_EQ(tokenizer.kind(), TokenizerKind::pretrained);
  EXPECT_EQ(tokenizer.size(), alone.size());
  for (const char* text : {"Hello, world!", "na\u00efve \u4f60\u597d \U0001F600", " a  b\n"}) {
    EXPECT_EQ(tokenizer.encode(text), alone.encode(text, {.add_special_tokens = false}).ids);
    EXPECT_EQ(tokenizer.model_input(text).ids, alone.encode(text).ids);
    EXPECT_EQ(tokenizer.tokens(text).size(), tokenizer.encode(text).size());
    const TokenizedText read = tokenizer.model_input(text);
    EXPECT_EQ(read.tokens.size(), read.ids.size());
    EXPECT_EQ(tokenizer.decode(read.ids), alone.decode(read.ids));
  }
}

// Ids that no text gives too: characters that are never whole, special tokens among words.
TEST_P(PublishedTokenizer, StreamsTheTextThatItDecodes) {
  const Tokenizer tokenizer = tokenizer_of(GetParam());
  for (const char* text :
       {"The zebra chased the lion.", "na\u00efve caf\u00e9 \u4f60\u597d \U0001F600\U0001F44D!",
        "one\n\ntwo  three\ttabs", "\u0915\u094d\u0937 \u05e9\u05dc\u05d5\u05dd"}) {
    const auto ids = tokenizer.encode(text);
    TextDecoder decoder(tokenizer);
    std::string streamed;
    for (const std::int64_t id : ids) {
      const std::string part = decoder.add(id);
      EXPECT_EQ(part.find("\uFFFD"), std::string::npos) << text;
      streamed += part;
    }
    streamed += decoder.finish();
    EXPECT_EQ(streamed, tokenizer.decode(ids)) << text;
  }
}

TEST_P(PublishedTokenizer, IsSavedAsItWasRead) {
  const TemporaryFolder folder;
  const Tokenizer tokenizer = tokenizer_of(GetParam());
  tokenizer.save(folder / "");
  EXPECT_EQ(read_file(folder / "tokenizer.json"), golden(GetParam()));
  const Tokenizer again = Tokenizer::load(folder / "");
  EXPECT_TRUE(again == tokenizer);
  EXPECT_EQ(again.checksum(), tokenizer.checksum());
  EXPECT_EQ(again.special().mask, tokenizer.special().mask);
}

INSTANTIATE_TEST_SUITE_P(All, PublishedTokenizer,
                         testing::Values("bert", "gpt2", "roberta", "llama3", "qwen2", "llama2",
                                         "t5", "xlmr"),
                         [](const auto& family) { return std::string(family.param); });

TEST(PublishedTokens, AreLabelledByTheirText) {
  EXPECT_THAT(tokenizer_of("gpt2").tokens("the the"), ElementsAre("t", "he", " the"));
  EXPECT_THAT(tokenizer_of("bert").model_input("The the").tokens,
              ElementsAre("[CLS]", "the", "the", "[SEP]"));
}

// Bytes of GPT-2 that are half a character have no text of their own: the vocabulary's word stays.
TEST(PublishedTokens, KeepTheWordOfTheVocabularyWhereBytesAreNoCharacter) {
  const Tokenizer tokenizer = tokenizer_of("gpt2");
  for (const std::string& token : tokenizer.tokens("\U0001F600")) {
    EXPECT_EQ(token.find("\uFFFD"), std::string::npos);
    EXPECT_FALSE(token.empty());
  }
}

TEST(PublishedTokens, HaveWholeWords) {
  const auto words_of = [](const std::string& name) {
    const Tokenizer tokenizer = tokenizer_of(name);
    std::vector<std::string> words;
    for (std::int64_t id = 0; id < tokenizer.size(); ++id) {
      if (auto word = tokenizer.whole_word(id)) words.push_back(*word);
    }
    return words;
  };
  for (const char* name : {"gpt2", "bert", "llama2"}) {
    const auto words = words_of(name);
    EXPECT_GT(words.size(), 20) << name;
    for (const std::string& word : words) {
      EXPECT_FALSE(word.starts_with(" ") || word.starts_with("\u2581") || word == "[CLS]")
          << name << " " << word;
    }
  }
}

// A tokenizer of the words "a" .. "c", <s>, </s> and <end>, and files beside it.
struct Folder {
  Folder() {
    write_file(path / "tokenizer.json", R"({"version": "1.0", "added_tokens": [
      {"id": 3, "content": "<s>", "special": true, "single_word": false, "lstrip": false,
       "rstrip": false, "normalized": false},
      {"id": 4, "content": "</s>", "special": true, "single_word": false, "lstrip": false,
       "rstrip": false, "normalized": false},
      {"id": 5, "content": "<end>", "special": true, "single_word": false, "lstrip": false,
       "rstrip": false, "normalized": false}],
      "pre_tokenizer": {"type": "Whitespace"},
      "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "c": 2}, "unk_token": "a"}})");
  }
  void add(const char* name, const std::string& text) const { write_file(path / name, text); }
  SpecialTokens special() const { return Tokenizer::load(path / "").special(); }
  TemporaryFolder path;
};

TEST(SpecialTokensOfFolders, AreNoneWhereNoFileNamesThem) {
  const SpecialTokens none = Folder().special();
  EXPECT_THAT((std::vector{none.pad, none.bos, none.eos, none.unk, none.mask}),
              ::testing::Each(-1));
  EXPECT_TRUE(none.ends.empty());
}

TEST(SpecialTokensOfFolders, AreNamedByTheTokenizersFilesFirst) {
  const Folder folder;
  folder.add("tokenizer_config.json",
             R"({"eos_token": {"content": "</s>"}, "pad_token": null, "unk_token": "no such"})");
  folder.add("special_tokens_map.json", R"({"bos_token": "<s>", "eos_token": "<end>"})");
  folder.add("config.json", R"({"model_type": "gpt2", "pad_token_id": 5, "eos_token_id": 0})");
  folder.add("generation_config.json", R"({"eos_token_id": [5, 99, 5]})");
  const SpecialTokens found = folder.special();
  EXPECT_EQ(found.eos, 4);
  EXPECT_EQ(found.bos, 3);
  EXPECT_EQ(found.pad, 5);
  EXPECT_EQ(found.unk, -1);
  EXPECT_THAT(found.ends, ElementsAre(5, 4));
}

TEST(SpecialTokensOfFolders, AreSavedWithTheTokenizer) {
  const Folder folder;
  folder.add("config.json", R"({"bos_token_id": 3, "eos_token_id": [4, 5]})");
  const TemporaryFolder copy;
  Tokenizer::load(folder.path / "").save(copy / "");
  const SpecialTokens found = Tokenizer::load(copy / "").special();
  EXPECT_EQ(found.bos, 3);
  EXPECT_EQ(found.eos, 4);
  EXPECT_THAT(found.ends, ElementsAre(4, 5));
}

TEST(SpecialTokensOfFolders, OfAnotherKindAreRefusedByTheirFile) {
  for (const auto& [name, text, said] :
       {std::tuple{"tokenizer_config.json", R"({"eos_token": 3})", "eos_token"},
        {"special_tokens_map.json", R"({"bos_token": ["<s>"]})", "bos_token"},
        {"generation_config.json", R"({"eos_token_id": "</s>"})", "eos_token_id"},
        {"config.json", R"({"pad_token_id": 0.5})", "pad_token_id"},
        {"tokenizer_config.json", "[", "tokenizer_config.json"}}) {
    const Folder folder;
    folder.add(name, text);
    EXPECT_THAT([&] { folder.special(); }, ThrowsMessage<Error>(HasSubstr(said))) << text;
    EXPECT_THAT([&] { folder.special(); }, ThrowsMessage<Error>(HasSubstr(name))) << text;
  }
}

// Nothing goes through all numbers up to the largest id of a file.
TEST(PublishedTokens, MayHaveIdsOfAnySize) {
  const Tokenizer tokenizer = Tokenizer::parse(
      R"({"version": "1.0", "model": {"type": "WordLevel", "unk_token": "a",
          "vocab": {"a": 0, "b": 2147483647}}})");
  EXPECT_EQ(tokenizer.size(), std::int64_t{1} << 31);
  EXPECT_EQ(tokenizer.whole_word(2147483647), "b");
  EXPECT_FALSE(tokenizer.has(7));
  EXPECT_EQ(tokenizer.piece_or_number(7), "<7>");
  EXPECT_TRUE(tokenizer == tokenizer);
}

TEST(Unwritten, AreWhatNoTextHasButEnds) {
  const Folder folder;
  folder.add("config.json", R"({"bos_token_id": 4, "pad_token_id": 3, "eos_token_id": [4, 5]})");
  EXPECT_THAT(Tokenizer::load(folder.path / "").unwritten(8), ElementsAre(3, 6, 7));
}

TEST(Tokenizer, RefusesSpecialTokensThatItDoesNotHave) {
  const auto make = [](const SpecialTokens& special) {
    return Tokenizer::of(PretrainedTokenizer::parse(golden("bert")), special);
  };
  EXPECT_THAT([&] { make({.eos = 1 << 20}); },
              ThrowsMessage<Error>(HasSubstr("[tokenizer.special] must be ids of tokens")));
  EXPECT_THAT([&] { make({.ends = {-1}}); }, ThrowsMessage<Error>(HasSubstr("got -1")));
}

}  // namespace
}  // namespace sextant
