// A tokenizer's files: back as they were, and every fault with its own Error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/core/files.h"
#include "sextant/text/tokenizer.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string> kFileTexts = {
    "The king, the Queen.\nA dog and the king \u00E9\u5B66\n",
    "the dog saw\u202Fthe king \"quoted\" \U0001F600"};

Tokenizer make(TokenizerKind kind, bool lower_case = false) {
  return Tokenizer::train(kFileTexts, {.kind = kind,
                                       .lower_case = lower_case,
                                       .split_punctuation = lower_case,
                                       .vocabulary_size = 60});
}

TEST(TokenizerFile, BringsBackTheSameTokenizer) {
  for (const auto kind : {TokenizerKind::word, TokenizerKind::character, TokenizerKind::subword}) {
    for (const bool lower_case : {false, true}) {
      const TemporaryFolder folder;
      const Tokenizer saved = make(kind, lower_case);
      saved.save(folder.path());
      EXPECT_EQ(std::filesystem::exists(folder / "tokenizer.model"),
                kind == TokenizerKind::subword);
      const Tokenizer loaded = Tokenizer::load(folder.path());
      EXPECT_EQ(loaded.kind(), kind);
      ASSERT_EQ(loaded.size(), saved.size());
      for (std::int64_t id = 0; id < saved.size(); ++id) {
        EXPECT_EQ(loaded.piece(id), saved.piece(id));
      }
      for (const std::string& text : kFileTexts) EXPECT_EQ(loaded.encode(text), saved.encode(text));
      EXPECT_EQ(loaded.tokens("The KING, x.\nA"), saved.tokens("The KING, x.\nA"));
      const TemporaryFolder again;
      loaded.save(again.path());
      EXPECT_EQ(read_file(again / "tokenizer.json"), read_file(folder / "tokenizer.json"));
    }
  }
}

TEST(TokenizerFile, NamesTheFileThatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { Tokenizer::load(folder.path()); }), HasSubstr("tokenizer.json"));
  make(TokenizerKind::subword).save(folder.path());
  std::filesystem::remove(folder / "tokenizer.model");
  EXPECT_THAT(error_of([&] { Tokenizer::load(folder.path()); }), HasSubstr("tokenizer.model"));
  EXPECT_THROW(make(TokenizerKind::word).save(folder / "none"), Error);
}

std::string with_change(const std::string& kind, const std::string& tokens) {
  return "{\"format\": \"sextant tokenizer 1\", \"kind\": \"" + kind +
         "\", \"lower_case\": false, \"split_punctuation\": false, "
         "\"tokens\": [\"<pad>\", \"<bos>\", \"<eos>\", \"<unk>\"" +
         tokens + "]}";
}

TEST(TokenizerFile, ReadsWhatItsFormatSays) {
  EXPECT_EQ(Tokenizer::parse(with_change("word", ", \"a\", \"\\n\", \"b.\"")).size(), 7);
  EXPECT_EQ(Tokenizer::parse(with_change("character", ", \"a\", \" \", \"\\u5b66\"")).size(), 7);
  EXPECT_EQ(Tokenizer::parse(with_change("word", "")).size(), 4);
}

TEST(TokenizerFile, NamesTheRulesThatSplitItsWords) {
  const TemporaryFolder folder;
  make(TokenizerKind::word, true).save(folder.path());
  std::string json = read_file(folder / "tokenizer.json");
  const std::string rules = "\"word_rules\": \"sextant 1\"";
  const std::size_t place = json.find(rules);
  ASSERT_NE(place, std::string::npos) << json;
  EXPECT_EQ(Tokenizer::parse(json), make(TokenizerKind::word, true));
  for (const char* other : {"\"sextant 2\"", "\"ICU 76\"", "1"}) {
    std::string changed = json;
    changed.replace(place, rules.size(), std::string("\"word_rules\": ") + other);
    EXPECT_THAT(error_of([&] { Tokenizer::parse(changed); }),
                HasSubstr("must have 'sextant 1' as \"word_rules\", got "))
        << other;
  }
  // A file of 0.1.0 has none.
  json.erase(place, json.find('\n', place) - place);
  EXPECT_EQ(Tokenizer::parse(json), make(TokenizerKind::word, true));
}

TEST(TokenizerFile, NamesNoRulesWhereWordsAreSplitAtSpaces) {
  const TemporaryFolder folder;
  make(TokenizerKind::word).save(folder.path());
  EXPECT_EQ(read_file(folder / "tokenizer.json").find("word_rules"), std::string::npos);
}

TEST(TokenizerFile, EveryFaultHasItsOwnError) {
  const std::string rest =
      "\"lower_case\": false, \"split_punctuation\": false, \"tokens\": [\"<pad>\"]}";
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"", "must be valid JSON, got an error at byte 1"},
      {"[]", "must be a JSON object, got array"},
      {"\xFF", "must be UTF-8, got byte 0xff at offset 0"},
      {"{}", "must have the key \"format\""},
      {"{\"kind\": \"word\", \"format\": \"sextant tokenizer 1\", \"tokens\": []}",
       "must have the key \"lower_case\""},
      {"{\"a\": 1, " + rest,
       "no key but format, kind, lower_case, split_punctuation, word_rules and tokens, "
       "got 'a'"},
      {"{\"tokens\": [], " + rest, "has the key 'tokens' twice in one object"},
      {"{\"format\": 1, \"kind\": \"word\", " + rest, "text as \"format\", got number"},
      {"{\"format\": \"x\", \"kind\": \"word\", " + rest,
       "must have \"sextant tokenizer 1\" as \"format\", got 'x'"},
      {"{\"format\": \"sextant tokenizer 1\", \"kind\": [], " + rest,
       "text as \"kind\", got array"},
      {with_change("letter", ""), "must be one of word, character, subword, got 'letter'"},
      {"{\"format\": \"sextant tokenizer 1\", \"kind\": \"word\", \"lower_case\": 0, "
       "\"split_punctuation\": false, \"tokens\": []}",
       "true or false as \"lower_case\", got number"},
      {"{\"format\": \"sextant tokenizer 1\", \"kind\": \"word\", \"lower_case\": false, "
       "\"split_punctuation\": false, \"tokens\": 5}",
       "a list as \"tokens\", got number"},
      {"{\"format\": \"sextant tokenizer 1\", \"kind\": \"word\", " + rest,
       "must have <bos> as token 1"},
      {with_change("word", ", 7"), "text as every token, got number at place 4"},
      {with_change("word", ", \"a\", \"a\""), "every token once, got 'a' again at place 5"},
      {with_change("word", ", \"\""), "single words as tokens, got '' at place 4"},
      {with_change("word", ", \"a b\""), "single words as tokens, got 'a b' at place 4"},
      {with_change("word", ", \" \""), "single words as tokens, got ' ' at place 4"},
      {with_change("character", ", \"ab\""), "single characters as tokens, got 'ab' at place 4"},
      {with_change("character", ", \"\""), "single characters as tokens, got '' at place 4"},
      {with_change("subword", ", \"a\""), "the special tokens and the line break only"},
      {with_change("subword", ", \"\\n\", \"a\""), "the special tokens and the line break only"},
      {with_change("subword", ""), "the line break as token 4"},
      {with_change("subword", ", \"\\n\""), "tokenizer.model"},
  };
  for (const auto& [json, message] : faults) {
    const std::string bytes = json;
    EXPECT_THAT(error_of([&] { Tokenizer::parse(bytes); }), HasSubstr(message)) << bytes;
  }
}

TEST(TokenizerFile, RefusesAnotherProgramsModel) {
  // The smallest model: <unk> and "a".
  constexpr char kModel[] =
      "\x0A\x09\x0A\x05<unk>\x18\x02"
      "\x0A\x05\x0A\x01"
      "a\x18\x01";
  const std::string_view model(kModel, sizeof kModel - 1);
  EXPECT_THAT(error_of([&] { Tokenizer::parse(with_change("subword", ", \"\\n\""), model); }),
              HasSubstr("must be a model that a tokenizer trained, with <s> as piece 1"));
}

}  // namespace
}  // namespace sextant
