// Tokenizers of all kinds: what becomes a token, the way back, what training keeps.
#include "sextant/text/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "sextant/core/files.h"
#include "sextant/text/segment.h"
#include "support/error_of.h"
#include "support/folders.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Texts = std::vector<std::string>;

const Texts kSentences = {"the king , the Queen and the king's dog", "the dog saw the king .",
                          "a dog and a king ."};
// Enough words for pieces.
const Texts kPlay = {
    "KING:\nThe travellers answered.\n\nQUEEN:\nThe travellers travelled, "
    "answering the king.\nThe king answered the traveller.\n"};

Tokenizer of(const Texts& texts, const TokenizerTraining& options) {
  return Tokenizer::train(texts, options);
}

Tokenizer subwords(std::int64_t size = 40, SubwordKind kind = SubwordKind::unigram) {
  return of(kPlay, {.kind = TokenizerKind::subword, .vocabulary_size = size, .subword = kind});
}

Texts pieces_of(const Tokenizer& tokenizer) {
  Texts pieces;
  for (std::int64_t id = 0; id < tokenizer.size(); ++id) pieces.push_back(tokenizer.piece(id));
  return pieces;
}

void expect_round_trip(const Tokenizer& tokenizer, const std::string& text) {
  const auto ids = tokenizer.encode(text);
  EXPECT_EQ(tokenizer.decode(ids), text);
  const Texts tokens = tokenizer.tokens(text);
  EXPECT_EQ(tokens.size(), ids.size());
  EXPECT_EQ(tokenizer.join(tokens), text);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_GE(ids[i], tokenizer.special().unk);
    EXPECT_LT(ids[i], tokenizer.size());
    if (ids[i] != tokenizer.special().unk) {
      EXPECT_EQ(tokenizer.piece(ids[i]), tokens[i]);
    }
  }
}

TEST(Tokenizer, SpecialTokensComeFirstInEveryKind) {
  for (const Tokenizer& each :
       {of(kSentences, {}), of(kSentences, {.kind = TokenizerKind::character}), subwords()}) {
    EXPECT_EQ(each.piece(each.special().pad), "<pad>");
    EXPECT_EQ(each.piece(each.special().bos), "<bos>");
    EXPECT_EQ(each.piece(each.special().eos), "<eos>");
    EXPECT_EQ(each.piece(each.special().unk), "<unk>");
    EXPECT_EQ(each.decode(std::vector<std::int64_t>{0, 1, 2}), "");
  }
}

TEST(Tokenizer, WordsAreNumberedByFallingCountThenByCodePoint) {
  EXPECT_THAT(pieces_of(of({"b a b Z", "a b \u00E9"}, {})),
              ElementsAre("<pad>", "<bos>", "<eos>", "<unk>", "b", "a", "Z", "\u00E9"));
}

TEST(Tokenizer, MinimumCountAndSizeKeepTheCommonest) {
  const Texts texts = {"c c c b b a a z"};
  EXPECT_THAT(pieces_of(of(texts, {.minimum_count = 2})),
              ElementsAre("<pad>", "<bos>", "<eos>", "<unk>", "c", "a", "b"));
  EXPECT_THAT(pieces_of(of(texts, {.vocabulary_size = 6})),
              ElementsAre("<pad>", "<bos>", "<eos>", "<unk>", "c", "a"));
  EXPECT_EQ(of(texts, {.vocabulary_size = 100}).size(), 8);
}

TEST(Tokenizer, SentencesWithSingleSpacesRoundTripWordForWord) {
  const Tokenizer words = of(kSentences, {});
  for (const std::string& sentence : kSentences) expect_round_trip(words, sentence);
  EXPECT_EQ(words.decode(words.encode("  the   king\n. ")), "the king .");
}

TEST(Tokenizer, WordsKeepTheirCaseUnlessAskedOtherwise) {
  const Tokenizer cased = of({"The the"}, {});
  EXPECT_NE(cased.encode("The"), cased.encode("the"));
  const Tokenizer lower = of({"The the"}, {.lower_case = true});
  EXPECT_EQ(lower.size(), 5);
  EXPECT_EQ(lower.encode("The"), lower.encode("the"));
  EXPECT_THAT(lower.tokens("The THE"), ElementsAre("the", "the"));
}

TEST(Tokenizer, UnknownWordsKeepTheirTextAmongTheTokens) {
  const Tokenizer words = of(kSentences, {});
  const std::string text = "the unicorn saw a dog";
  const auto ids = words.encode(text);
  EXPECT_EQ(ids[1], words.special().unk);
  EXPECT_EQ(words.decode(ids), "the <unk> saw a dog");
  EXPECT_THAT(words.tokens(text), ElementsAre("the", "unicorn", "saw", "a", "dog"));
  EXPECT_EQ(words.join(words.tokens(text)), text);
}

TEST(Tokenizer, TextNeverBecomesASpecialToken) {
  const Texts texts = {"<pad> <bos> a <eos> <unk> [EOS] </s>"};
  const Tokenizer words = of(texts, {});
  EXPECT_EQ(words.size(), 7);
  EXPECT_THAT(words.encode("<pad> <bos> <eos> <unk> a"),
              ElementsAre(3, 3, 3, 3, words.encode("a")[0]));
  for (const auto id : subwords().encode(texts[0])) EXPECT_GE(id, 3);
}

TEST(Tokenizer, WordsOfAFileKeepItsLines) {
  const Tokenizer words = of({"a b .\n\nb a\n"}, {});
  expect_round_trip(words, "a b\nb .\n\n\na\n");
  expect_round_trip(words, "\na");
  EXPECT_EQ(words.size(), 4 + 4);
}

TEST(Tokenizer, PunctuationCanBeSplitOff) {
  const Tokenizer words = of(kPlay, {.split_punctuation = true});
  EXPECT_THAT(words.tokens("The king, answered.\nThe"),
              ElementsAre("The", "king", ",", "answered", ".", "\n", "The"));
  EXPECT_NE(words.encode("KING:")[0], words.special().unk);
}

TEST(Tokenizer, CharactersAreCodePointsAndAlwaysRoundTrip) {
  const std::string text = "a  b\n\n\t\u00E9\U0001F600e\u0301 \r\n";
  const Tokenizer characters = of({text}, {.kind = TokenizerKind::character});
  expect_round_trip(characters, text);
  EXPECT_EQ(characters.encode("e\u0301\U0001F600").size(), 3u);
  const auto ids = characters.encode("abX");
  EXPECT_EQ(ids[2], characters.special().unk);
  EXPECT_EQ(characters.decode(ids), "ab\uFFFD");
  EXPECT_THAT(characters.tokens("aX\n"), ElementsAre("a", "X", "\n"));
}

TEST(Tokenizer, SubwordsRoundTripWithTheirLines) {
  for (const auto kind : {SubwordKind::unigram, SubwordKind::bpe}) {
    const Tokenizer pieces = subwords(40, kind);
    EXPECT_LE(pieces.size(), 40);
    for (const std::string& text : kPlay) expect_round_trip(pieces, text);
    expect_round_trip(pieces, "The king answered.");
    expect_round_trip(pieces, "\n\nThe travel\n");
    EXPECT_EQ(pieces.decode(pieces.encode(" The   king ")), "The king");
    EXPECT_EQ(pieces.encode("\n"), std::vector<std::int64_t>{4});
    EXPECT_EQ(pieces.piece(4), "\n");
  }
}

TEST(Tokenizer, SubwordsShowWhatTheyDoNotKnow) {
  const Tokenizer pieces = subwords();
  const auto ids = pieces.encode("The \u5B66 king");
  EXPECT_THAT(ids, ::testing::Contains(pieces.special().unk));
  EXPECT_THAT(pieces.decode(ids), HasSubstr("\u2047"));
  EXPECT_EQ(pieces.join(pieces.tokens("The \u5B66 king")), "The \u5B66 king");
}

TEST(Tokenizer, TextGrowsAtItsEndOnly) {
  for (const auto kind : {TokenizerKind::word, TokenizerKind::character, TokenizerKind::subword}) {
    const Tokenizer tokenizer = of(kPlay, {.kind = kind, .vocabulary_size = 40});
    std::vector<std::int64_t> ids = tokenizer.encode(kPlay[0] + " unknown \u5B66\n\n");
    ids.insert(ids.begin() + 3, {0, 1, 2, 3, 3});
    std::string before;
    for (std::size_t n = 0; n <= ids.size(); ++n) {
      const std::string text = tokenizer.decode(std::span(ids).first(n));
      EXPECT_TRUE(text.starts_with(before)) << before << '|' << text;
      before = text;
    }
  }
}

TEST(Tokenizer, EmptyTextHasNoTokens) {
  for (const Tokenizer& each :
       {of(kSentences, {}), of(kSentences, {.kind = TokenizerKind::character}), subwords()}) {
    EXPECT_THAT(each.encode(""), IsEmpty());
    EXPECT_THAT(each.tokens(""), IsEmpty());
    EXPECT_EQ(each.decode({}), "");
    EXPECT_EQ(each.join({}), "");
  }
}

TEST(Tokenizer, TheSameTextsGiveTheSameTokens) {
  for (const auto kind : {TokenizerKind::word, TokenizerKind::character, TokenizerKind::subword}) {
    const TokenizerTraining options{.kind = kind, .vocabulary_size = 40};
    EXPECT_EQ(pieces_of(of(kPlay, options)), pieces_of(of(kPlay, options)));
    EXPECT_EQ(parse_name<TokenizerKind>(name_of(kind), "x"), kind);
  }
}

TEST(Tokenizer, RefusesWhatCannotBeLearned) {
  const auto subword = TokenizerKind::subword;
  EXPECT_THAT(error_of([] { of({}, {}); }), HasSubstr("[tokenizer.texts] must hold a token"));
  EXPECT_THAT(error_of([] { of({" \t", "<unk>"}, {}); }), HasSubstr("must hold a token to learn"));
  EXPECT_THAT(error_of([] { of({"a b"}, {.minimum_count = 2}); }),
              HasSubstr("that occurs 2 times"));
  EXPECT_THAT(error_of([&] { of({""}, {.kind = subword, .vocabulary_size = 8}); }),
              HasSubstr("[tokenizer.texts] must hold text to train on"));
  EXPECT_THAT(error_of([&] { of({"abcdefghij"}, {.kind = subword, .vocabulary_size = 8}); }),
              HasSubstr("SentencePiece reports"));
  EXPECT_THAT(error_of([] { of({"a\xFF"}, {}); }),
              HasSubstr("[tokenizer.text] must be UTF-8, got byte 0xff at offset 1"));
}

TEST(Tokenizer, RefusesOptionsOutOfRange) {
  const auto subword = TokenizerKind::subword;
  EXPECT_THAT(error_of([] { of({"a"}, {.minimum_count = 0}); }),
              HasSubstr("[tokenizer.minimum_count] must be at least 1, got 0"));
  EXPECT_THAT(error_of([] { of({"a"}, {.vocabulary_size = 4}); }),
              HasSubstr("[tokenizer.vocabulary_size] must be 0 (all) or >= 5, got 4"));
  EXPECT_THAT(error_of([&] { of({"a"}, {.kind = subword}); }),
              HasSubstr("[tokenizer.vocabulary_size] must be in 8 .. 1000000, got 0"));
  EXPECT_THAT(error_of([&] {
                of({"a"},
                   {.kind = subword, .vocabulary_size = 20, .subword = SubwordKind::character});
              }),
              HasSubstr("[tokenizer.subword] must be unigram or bpe"));
  EXPECT_THAT(error_of([] { of({"a"}, {.kind = static_cast<TokenizerKind>(9)}); }),
              HasSubstr("[tokenizer.kind] must be one of the named values, got 9"));
  EXPECT_EQ(error_of([] { parse_name<TokenizerKind>("letters", "tokenizer.kind"); }),
            "[tokenizer.kind] must be one of word, character, subword, pretrained, got 'letters'");
}

TEST(Tokenizer, RefusesIdsOutsideItself) {
  const Tokenizer words = of({"a b"}, {});
  EXPECT_EQ(error_of([&] { words.piece(6); }), "[tokenizer.id] must be in 0 .. 5, got 6");
  EXPECT_THROW(words.piece(-1), Error);
  EXPECT_THROW(words.decode(std::vector<std::int64_t>{4, 6}), Error);
  EXPECT_THROW(subwords().piece(40), Error);
}

TEST(Tokenizer, LabelsShowWhiteSpaceAndControls) {
  EXPECT_EQ(token_label("the"), "the");
  EXPECT_EQ(token_label(" "), "\u2423");
  EXPECT_EQ(token_label("\n"), "\u21B5");
  EXPECT_EQ(token_label(std::string("\0\t\x1F\x7F\u00E9", 6)), "\u2400\u2409\u241F\u2421\u00E9");
  EXPECT_EQ(token_label("\u200b"), "U+200B");
  EXPECT_EQ(token_label("a\u202eb"), "aU+202Eb");
  EXPECT_EQ(token_label("\u200d"), "U+200D");
  EXPECT_EQ(token_label("\u0645\u06cc\u200c"), "\u0645\u06cc\u200c");
  EXPECT_THAT(error_of([] { token_label("\xFF"); }), HasSubstr("must be UTF-8"));
}

TEST(Tokenizer, ShakespeareRoundTrips) {
  const auto folder =
      std::filesystem::path(sextant::tests::shared_folder()) / "data" / "shakespeare";
  if (!std::filesystem::is_directory(folder)) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "data is missing: " << folder;
    GTEST_SKIP() << "no data at " << folder;
  }
  const std::string pairs = read_file((folder / "valid.tsv").string());
  Texts sides;
  for (std::size_t begin = 0; begin < pairs.size();) {
    const std::size_t end = std::min(pairs.find_first_of("\t\n", begin), pairs.size());
    sides.push_back(pairs.substr(begin, end - begin));
    begin = end + 1;
  }
  const Tokenizer words = of(sides, {});
  for (const std::string& side : sides) ASSERT_EQ(words.decode(words.encode(side)), side);
  const Texts plays = {read_file((folder / "plays.txt").string())};
  const Tokenizer characters = of(plays, {.kind = TokenizerKind::character});
  EXPECT_EQ(characters.size(), 4 + 65);
  EXPECT_TRUE(characters.decode(characters.encode(plays[0])) == plays[0]);
  const Tokenizer pieces =
      of(plays,
         {.kind = TokenizerKind::subword, .vocabulary_size = 1000, .subword = SubwordKind::bpe});
  std::string single;  // the plays have runs of spaces and spaces at the ends of lines
  std::istringstream lines(plays[0]);
  for (std::string line; std::getline(lines, line); single += '\n') {
    const Texts parts = split_spaces(line);
    for (std::size_t i = 0; i < parts.size(); ++i) single += (i == 0 ? "" : " ") + parts[i];
  }
  EXPECT_TRUE(pieces.decode(pieces.encode(plays[0])) == single);
}

}  // namespace
}  // namespace sextant
