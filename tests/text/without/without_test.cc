// The text component without ICU, SentencePiece and fastText: what works all the same, and what the
// rest says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/text/libraries.h"
#include "sextant/text/pairs.h"
#include "sextant/text/pretrained_tokenizer.h"
#include "sextant/text/segment.h"
#include "sextant/text/subword.h"
#include "sextant/text/tokenizer.h"
#include "sextant/text/word_vectors.h"
#include "support/error_of.h"

namespace sextant {
namespace {

template <class Call>
void expect_error(Call call, const std::string& words) {
  EXPECT_THAT(error_of(call), testing::HasSubstr(words));
}

const std::vector<std::string> kTexts = {"Caf\u00e9\u3000au lait.\nNo tea."};

TEST(WithoutLibraries, SaysSo) { EXPECT_FALSE(has_text_libraries()); }

TEST(WithoutLibraries, CharactersOfAnyScriptAreTokens) {
  const Tokenizer tokenizer = Tokenizer::train(kTexts, {.kind = TokenizerKind::character});
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(kTexts[0])), kTexts[0]);
  EXPECT_EQ(tokenizer.tokens("\u00e9\u3000"), (std::vector<std::string>{"\u00e9", "\u3000"}));
}

TEST(WithoutLibraries, WordsBetweenWhiteSpaceAreTokens) {
  const Tokenizer tokenizer = Tokenizer::train(kTexts, {.kind = TokenizerKind::word});
  EXPECT_EQ(tokenizer.tokens("Caf\u00e9\u3000au  lait.\n"),
            (std::vector<std::string>{"Caf\u00e9", "au", "lait.", "\n"}));
}

TEST(WithoutLibraries, PairsAndTextsAreRead) {
  EXPECT_EQ(parse_pairs("a\tb\n", {.header = HeaderLine::no}).target[0], "b");
  EXPECT_EQ(parse_texts("\u00a0a\n")[0], "\u00a0a\n");
  expect_error([] { parse_texts("a\xff"); }, "byte 0xff at offset 1");
}

TEST(WithoutLibraries, LowerCaseIsThatOfAscii) {
  EXPECT_EQ(lower_case("To Be, 2B"), "to be, 2b");
  expect_error([] { lower_case("\u00c9"); }, "[lower_case.text] needs ICU");
}

TEST(WithoutLibraries, WordsAreThoseOfAscii) {
  EXPECT_EQ(split_words("Don't stop."), (std::vector<std::string>{"Don't", "stop", "."}));
  EXPECT_EQ(visible_length("a\r\nb"), 3);
  EXPECT_EQ(display_width("a\tb"), 2);
  EXPECT_EQ(shorten("abcdef", 3), "ab\u2026");
  EXPECT_EQ(shorten("abc", 3), "abc");
  expect_error([] { shorten("abc", 0); }, "[shorten.length] must be >= 1");
}

TEST(WithoutLibraries, WhatNeedsALibraryNamesIt) {
  expect_error([] { split_words("\u00e9"); }, "[split_words.text] needs ICU");
  expect_error([] { split_sentences("a"); }, "[split_sentences.text] needs ICU");
  expect_error([] { PretrainedTokenizer::parse("{}", "t.json"); }, "[t.json] needs ICU");
  expect_error([] { SubwordTokenizer::train_on("a", {}, "here"); }, "[here] needs SentencePiece");
  expect_error([] { SubwordTokenizer::load("m.model"); }, "[m.model] needs SentencePiece");
  expect_error([] { WordVectors::train({}); }, "[word_vectors.train] needs fastText");
}

TEST(WithoutLibraries, ATokenizerThatNeedsOneIsRefusedBeforeAnythingIsRead) {
  expect_error([] { Tokenizer::train({}, {.kind = TokenizerKind::subword, .vocabulary_size = 8}); },
               "[tokenizer.kind] must be word or character: subword needs SentencePiece");
  expect_error([] { Tokenizer::train({}, {.split_punctuation = true}); },
               "[tokenizer.split_punctuation] must be no");
  const std::string file =
      R"({"format": "sextant tokenizer 1", "kind": "word", "lower_case": false,
          "split_punctuation": true, "tokens": ["<pad>", "<bos>", "<eos>", "<unk>", "a"]})";
  expect_error([&] { Tokenizer::parse(file, {}, "t.json"); }, "[t.json] has words");
}

}  // namespace
}  // namespace sextant
