// Marian's two files as one tokenizer: what SentencePiece divides, numbered by vocab.json.
#include "text/files/marian_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/text/subword.h"
#include "sextant/text/tokenizer.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const SubwordTokenizer& marian_pieces() {
  static const SubwordTokenizer pieces = [] {
    std::string text;
    for (const char* line :
         {"the zebra chased the lion over the hill", "a lion sleeps near a zebra",
          "nine old hills and seven lions", "who chases whom over there"}) {
      text += std::string(line) + "\n";
    }
    return SubwordTokenizer::train_on(text, {.vocabulary_size = 60});
  }();
  return pieces;
}

// A model's folder without weights: every second piece has no number, as where files disagree.
struct MarianFolder {
  MarianFolder() {
    const SubwordTokenizer& pieces = marian_pieces();
    vocabulary = {{"</s>", 0}, {"<unk>", 1}, {">>fra<<", 2}, {"\u2581lion", 3}};
    for (std::int64_t i = pieces.size() - 1; i > 4; i -= 2) {
      if (!vocabulary.contains(pieces.piece(i))) add(pieces.piece(i));
    }
    for (const char* token : {"\u2581Bonjour", "\u00e9", "<pad>"}) add(token);
    pieces.save(folder / "source.spm");
    pieces.save(folder / "target.spm");
    write();
  }
  void add(const std::string& token) { vocabulary.emplace(token, std::ssize(vocabulary)); }
  void write() const {
    Json json = Json::object();
    for (const auto& [token, id] : vocabulary) json[token] = id;
    write_file(folder / "vocab.json", json.dump());
  }
  // What transformers' MarianTokenizer does.
  std::vector<std::int64_t> ids_of(const std::string& text) const {
    std::vector<std::int64_t> ids;
    for (const std::string& piece : marian_pieces().pieces(text)) {
      const auto found = vocabulary.find(piece);
      ids.push_back(found == vocabulary.end() ? 1 : found->second);
    }
    return ids;
  }
  TemporaryFolder folder;
  std::map<std::string, std::int64_t> vocabulary;
};

TEST(MarianFiles, GiveTheNumbersOfSentencePiecesOfTheSource) {
  const MarianFolder marian;
  const Tokenizer tokenizer = Tokenizer::load(marian.folder / "");
  EXPECT_EQ(tokenizer.size(), std::ssize(marian.vocabulary));
  for (const char* text :
       {"the zebra chased the lion", "  nine\told   lions ", "caf\u00e9 na\u00efve", "\u4e16\u754c",
        "who chases \u2168 lions?", "\u00e9", "lion"}) {
    SCOPED_TRACE(text);
    const auto wanted = marian.ids_of(text);
    EXPECT_EQ(tokenizer.encode(text), wanted);
    auto ended = wanted;
    ended.push_back(0);
    EXPECT_EQ(tokenizer.model_input(text).ids, ended);
  }
  EXPECT_TRUE(tokenizer.encode(" ").empty());
}

TEST(MarianFiles, KnowCodesOfLanguagesAndTheTarget) {
  const MarianFolder marian;
  const Tokenizer tokenizer = Tokenizer::load(marian.folder / "");
  auto wanted = marian.ids_of("lion");
  wanted.insert(wanted.begin(), 2);
  EXPECT_EQ(tokenizer.encode(">>fra<< lion"), wanted);
  const std::int64_t hello = marian.vocabulary.at("\u2581Bonjour"),
                     pad = marian.vocabulary.at("<pad>");
  EXPECT_EQ(tokenizer.decode(std::vector<std::int64_t>{pad, hello, 3, 0}), "Bonjour lion");
  EXPECT_EQ(tokenizer.whole_word(hello), "Bonjour");
  EXPECT_EQ(tokenizer.special().ends, (std::vector<std::int64_t>{}));
}

TEST(MarianFiles, SayWhereATokenIs) {
  const MarianFolder marian;
  const auto tokenizer =
      PretrainedTokenizer::parse(text::join_marian_files(marian.folder / ""), "marian");
  const std::string text = "  the lion";
  const auto found = tokenizer.encode(text, {.add_special_tokens = false});
  ASSERT_FALSE(found.offsets.empty());
  EXPECT_EQ(found.offsets.back().end, std::ssize(text));
  for (const TokenOffsets& each : found.offsets) EXPECT_LT(each.begin, each.end);
}

TEST(MarianFiles, AreSavedAsOne) {
  const MarianFolder marian;
  const Tokenizer tokenizer = Tokenizer::load(marian.folder / "");
  const TemporaryFolder saved;
  tokenizer.save(saved / "");
  const Tokenizer again = Tokenizer::load(saved / "");
  EXPECT_EQ(again, tokenizer);
  EXPECT_EQ(again.encode("the lion"), tokenizer.encode("the lion"));
}

TEST(MarianFiles, ThatAreBrokenAreRefusedByName) {
  MarianFolder marian;
  const auto refuse = [&marian](const char* why) {
    EXPECT_THAT([&] { Tokenizer::load(marian.folder / ""); }, ThrowsMessage<Error>(HasSubstr(why)));
  };
  marian.vocabulary.at("\u2581lion") = 0;
  marian.write();
  refuse("each id once");
  marian.vocabulary.erase("\u2581lion");
  marian.vocabulary.erase("<unk>");
  marian.write();
  refuse("must have the id of <unk>");
  write_file(marian.folder / "vocab.json", "[]");
  refuse("vocab.json");
  const MarianFolder other;
  write_file(other.folder / "source.spm", "no model");
  EXPECT_THAT([&] { Tokenizer::load(other.folder / ""); },
              ThrowsMessage<Error>(HasSubstr("must be a SentencePiece model")));
}

}  // namespace
}  // namespace sextant
