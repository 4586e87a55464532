// `sextant vocabulary` and `sextant tokenize`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/run_program.h"
#include "core/json/json.h"
#include "sextant/core/safetensors.h"
#include "sextant/text/subword.h"
#include "sextant/text/vocabulary.h"

namespace sextant::app_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Tokens : public ::testing::Test {
 protected:
  // A SentencePiece model of a few lines.
  std::string model() const {
    std::string text;
    for (int i = 0; i < 40; ++i) text += "to be or not to be that is the question\n";
    const std::string path = folder_ / "m.model";
    SubwordTokenizer::train_on(text, {.vocabulary_size = 40}).save(path);
    return path;
  }
  std::string words() const {
    put(folder_ / "s.txt", "This is a sentence\nWhat is this?\n");
    EXPECT_EQ(sextant("vocabulary --file " + folder_ / "s.txt" + " -o " + folder_ / "v.json").code,
              0);
    return folder_ / "v.json";
  }

  const Folder folder_;
};

TEST_F(Tokens, AVocabularyIsSortedAndHasOov) {
  const std::string path = words();
  const Json json = Json::parse(contents(path));
  EXPECT_THAT(json["tokens"].get<std::vector<std::string>>(),
              ElementsAre("OOV", "a", "is", "sentence", "this", "this?", "what"));
  EXPECT_EQ(json["oov"], "OOV");
  EXPECT_EQ(Vocabulary::load(path).size(), 7);
  const std::string text = folder_ / "s.txt";
  EXPECT_THAT(sextant("vocabulary --file " + text).out, HasSubstr("0  OOV\n1  a\n"));
  const Json other =
      shell("cat " + text + " | sextant vocabulary --file - --oov '<unk>' --json").json();
  EXPECT_EQ(other["tokens"][0], "<unk>");
  EXPECT_EQ(other["oov"], "<unk>");
  EXPECT_EQ(sextant("vocabulary --file - --file -").code, 2);
  EXPECT_EQ(sextant("vocabulary").code, 2);
  put(text, " \n");
  EXPECT_EQ(sextant("vocabulary --file " + text).code, 1);
}

TEST_F(Tokens, WordsBecomeTheirNumbersAndUnknownOnesOov) {
  const std::string command = "tokenize 'This is WHAT? a' --vocabulary " + words();
  const Json json = sextant(command + " --json").json();
  EXPECT_THAT(json["tokens"].get<std::vector<std::string>>(),
              ElementsAre("this", "is", "OOV", "a"));
  EXPECT_THAT(json["ids"].get<std::vector<int>>(), ElementsAre(4, 2, 0, 1));
  EXPECT_EQ(sextant(command).out, "4  this\n2  is\n0  OOV\n1  a\n");
}

TEST_F(Tokens, OfAModelEndAndHaveALength) {
  const std::string path = model();
  const auto tokenizer = SubwordTokenizer::load(path);
  const std::string command = "tokenize 'to be' --json --model " + path;
  const Json plain = sextant(command).json();
  EXPECT_EQ(plain["ids"].get<std::vector<std::int64_t>>(), tokenizer.encode("to be"));
  EXPECT_EQ(plain["tokens"].get<std::vector<std::string>>(), tokenizer.pieces("to be"));
  for (const int length : {1, 2, 12}) {
    const Json fixed = sextant(command + " --eos --length " + std::to_string(length)).json();
    EXPECT_EQ(fixed["ids"].get<std::vector<std::int64_t>>(),
              tokenizer.encode_fixed("to be", length));
    EXPECT_EQ(fixed["tokens"].size(), fixed["ids"].size());
  }
  const Json padded = sextant(command + " --length 12").json();
  EXPECT_EQ(padded["tokens"][11], "[PAD]");
  EXPECT_EQ(padded["ids"][11], tokenizer.pad());
  const Json ended = sextant(command + " --eos").json();
  EXPECT_EQ(ended["tokens"].back(), "[EOS]");
  EXPECT_EQ(ended["ids"].back(), tokenizer.eos());
  EXPECT_THAT(sextant(command + " --length 1").err, HasSubstr("leaves out"));
  EXPECT_EQ(sextant(command + " --length 12").err, "");
  EXPECT_THAT(sextant(command + " --length 1").json()["tokens"],
              ElementsAre(tokenizer.pieces("to be").front()));
}

TEST_F(Tokens, WithoutNumbersAreSentencesAndWords) {
  const std::string text = folder_ / "story.txt";
  put(text, "The black cat sat\non the couch. The dog slept.");
  EXPECT_EQ(sextant("tokenize --file " + text).out,
            "the black cat sat on the couch .\nthe dog slept .\n");
  const Json json = sextant("tokenize --json --file " + text).json();
  ASSERT_EQ(json["sentences"].size(), 2u);
  EXPECT_EQ(json["sentences"][1].dump(), R"(["the","dog","slept","."])");
}

TEST_F(Tokens, OfAPublishedModelHavePlacesInTheText) {
  const std::string file = folder_ / "tokenizer.json";
  put(file, R"({"version": "1.0", "model": {"type": "WordLevel", "unk_token": "?",
                "vocab": {"?": 0, "a": 1}}, "pre_tokenizer": {"type": "WhitespaceSplit"}})");
  const std::string folder = folder_ / "";
  for (const std::string& model : {file, folder}) {
    EXPECT_EQ(sextant("tokenize 'a \u00e9' --model " + model).out, "1  a  0 .. 1\n0  ?  2 .. 4\n");
  }
  const Json json = sextant("tokenize 'a b' --json --model " + file).json();
  EXPECT_EQ(json["ids"], Json::parse("[1, 0]"));
  EXPECT_EQ(json["offsets"], Json::parse("[[0, 1], [2, 3]]"));
  for (const std::string option : {"--eos", "--length 3"}) {
    EXPECT_THAT(sextant("tokenize a " + option + " --model " + file).err,
                HasSubstr("must not be given with the tokenizer of a published model"));
  }
  put(folder_ / "text", "a b a\n");
  const std::string tokens = folder_ / "tokens.safetensors";
  EXPECT_EQ(
      sextant("tokenize --file " + folder_ / "text" + " --model " + file + " -o " + tokens).code,
      0);
  EXPECT_EQ(load_safetensors(tokens).tensors.at("tokens").shape, Shape{3});
  put(file, R"({"version": "1.0", "model": {"type": "Other"}})");
  EXPECT_THAT(sextant("tokenize a --model " + folder).err, HasSubstr("as model.type, got 'Other'"));
}

TEST_F(Tokens, RefuseWhatDoesNotFit) {
  const std::string path = words();
  EXPECT_EQ(sextant("tokenize a --eos").code, 2);
  EXPECT_EQ(sextant("tokenize a --length 3").code, 2);
  EXPECT_EQ(sextant("tokenize --vocabulary " + path).code, 2);
  EXPECT_EQ(sextant("tokenize a --eos --vocabulary " + path).code, 2);
  EXPECT_EQ(sextant("tokenize a --model m --length 0").code, 2);
  const Outcome missing = sextant("tokenize a --model " + folder_ / "none");
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("none] cannot be opened"));
  EXPECT_THAT(missing.out, IsEmpty());
  EXPECT_EQ(sextant("tokenize a --vocabulary " + path + " -o " + path).code, 1);
}

}  // namespace
}  // namespace sextant::app_tests
