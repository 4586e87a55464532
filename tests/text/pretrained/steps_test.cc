// Steps whose rules are easily missed, and what they may cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "support/deadline.h"
#include "support/error_of.h"
#include "text/pretrained/small.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using Tokens = std::vector<std::string>;

TEST(PretrainedSteps, TruncationLeavesRoomForSpecialTokens) {
  SmallTokenizer file{
      .pre_tokenizer = R"({"type": "WhitespaceSplit"})",
      .post_processor = R"({"type": "BertProcessing", "sep": ["b", 2], "cls": ["[UNK]", 0]})",
      .more = R"("truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst",
                                "stride": 0})"};
  const auto tokenizer = file.make();
  EXPECT_EQ(tokenizer.max_length(), 4);
  EXPECT_EQ(tokenizer.encode("a b a b a").ids.size(), 7);
  EXPECT_EQ(tokenizer.encode("a b a b a", {.truncate = true}).tokens,
            (Tokens{"[UNK]", "a", "b", "b"}));
  EXPECT_EQ(tokenizer.encode("a b a b b", {.add_special_tokens = false, .truncate = true}).tokens,
            (Tokens{"a", "b", "a", "b"}));
  file.more = R"("truncation": {"direction": "Left", "max_length": 3, "strategy": "OnlyFirst",
                                "stride": 0})";
  EXPECT_EQ(file.make().encode("a a b", {.truncate = true}).tokens, (Tokens{"[UNK]", "b", "b"}));
  file.more = R"("truncation": {"max_length": 1, "strategy": "OnlyFirst", "stride": 0})";
  EXPECT_THAT(error_of([&] { file.make().encode("a", {.truncate = true}); }),
              HasSubstr("[tokenizer.truncate] must be false with a max_length of 1"));
}

// Byte pairs of one letter: a, aa, aaaa ...
std::string doubling() {
  std::string vocabulary = R"("a": 0)";
  std::string merges;
  std::string token = "a";
  for (int id = 1; id < 12; ++id) {
    merges += (merges.empty() ? "\"" : ", \"") + token + " " + token + '"';
    token += token;
    vocabulary += ", \"" + token + "\": " + std::to_string(id);
  }
  return R"({"type": "BPE", "vocab": {)" + vocabulary + R"(}, "merges": [)" + merges + "]}";
}

TEST(PretrainedSteps, WordsOfAMillionLettersTakeSeconds) {
  const Deadline deadline;
  const std::string word(std::size_t{1} << 20, 'a');
  EXPECT_EQ(SmallTokenizer{.model = doubling()}.make().encode(word).ids.size(), 512);
  const std::string unigram = R"({"type": "Unigram", "unk_id": 0, "vocab": [["u", -9], ["a", -1],
                                  ["aa", -1.5]]})";
  EXPECT_EQ(SmallTokenizer{.model = unigram}.make().encode(word).ids.size(), word.size() / 2);
}

TEST(PretrainedSteps, PatternsOfAMillionSpacesTakeSeconds) {
  const Deadline deadline;
  const SmallTokenizer file{.model = R"({"type": "WordLevel", "vocab": {"x": 0}, "unk_token":
                                         "x"})",
                            .pre_tokenizer = R"({"type": "ByteLevel", "add_prefix_space": false,
                                                 "trim_offsets": true, "use_regex": true})"};
  std::string text(std::size_t{1} << 20, ' ');
  EXPECT_EQ(file.make().encode(text + "a").ids.size(), 2);
  for (std::size_t i = 0; i < text.size(); i += 2) text[i] = 'a';
  EXPECT_EQ(file.make().encode(text).ids.size(), text.size() / 2 + 1);
}

TEST(PretrainedSteps, TextsThatGrowWithoutBoundAreAnError) {
  const Deadline deadline;
  const std::string step = R"({"type": "Replace", "pattern": {"String": "a"}, "content": ")" +
                           std::string(1024, 'a') + "\"}";
  std::string steps = step;
  for (int i = 0; i < 5; ++i) steps += ", " + step;
  SmallTokenizer file{.normalizer = R"({"type": "Sequence", "normalizers": [)" + steps + "]}"};
  EXPECT_THAT(error_of([&] { file.make().encode("aaaa"); }),
              HasSubstr("[tokenizer.text] becomes more than 64 times as long"));
  file.normalizer = "";
  file.decoder = R"({"type": "Sequence", "decoders": [)" + steps + "]}";
  EXPECT_THAT(error_of([&] {
                file.make().decode(std::vector<std::int64_t>{1, 1});
              }),
              HasSubstr("[tokenizer.ids] become text more than 64 times as long"));
  file.decoder = R"({"type": "Replace", "pattern": {"String": "a"}, "content": ")" +
                 std::string(1025, 'a') + "\"}";
  EXPECT_THAT(error_of([&] { file.make(); }), HasSubstr("at most 1024 bytes as decoder.content"));
}

TEST(PretrainedSteps, PatternsThatNeverEndAreAnError) {
  const Deadline deadline;
  for (const std::string pattern : {"(a+)+$", "(?=.*x)a", "(?:a|a)*c"}) {
    const SmallTokenizer file{.pre_tokenizer =
                                  R"({"type": "Split", "behavior": "Isolated", "invert": false,
                             "pattern": {"Regex": ")" +
                                  pattern + R"("}})"};
    const auto tokenizer = file.make();
    EXPECT_THAT(error_of([&] { tokenizer.encode(std::string(200000, 'a') + "b"); }),
                HasSubstr("[tokenizer.text] takes too many steps"))
        << pattern;
  }
}

TEST(PretrainedSteps, AWordPieceIsOfAtMostSoManyCharacters) {
  const Deadline deadline;
  SmallTokenizer file{.model = R"({"type": "WordPiece", "unk_token": "[UNK]",
      "continuing_subword_prefix": "##", "max_input_chars_per_word": 3,
      "vocab": {"[UNK]": 0, "a": 1, "##a": 2, "##é": 3}})"};
  EXPECT_EQ(file.make().encode("aaé").ids, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(file.make().encode("aaéa").ids, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(file.make().encode("aab").ids, (std::vector<std::int64_t>{0}));
  file.model.replace(file.model.find(": 3,"), 4, ": 1001,");
  EXPECT_THAT(error_of([&] { file.make(); }), HasSubstr("an integer of 0 .. 1000"));
}

TEST(PretrainedSteps, LinesEndAsInOniguruma) {
  const auto parts = [](const std::string& pattern, const std::string& text) {
    const SmallTokenizer file{.pre_tokenizer =
                                  R"({"type": "Split", "behavior": "Isolated", "invert": false,
                             "pattern": {"Regex": ")" +
                                  pattern + R"("}})"};
    return file.make().encode(text).ids.size();
  };
  EXPECT_EQ(parts("^a", "a\na"), 3);           // a, \n, a: ^ is the begin of a line
  EXPECT_EQ(parts("a$", "a\na\n"), 4);         // a, \n, a, \n
  EXPECT_EQ(parts(".+", "a\rb"), 1);           // the dot takes \r
  EXPECT_EQ(parts(".+", "a\nb"), 3);           // and not \n
  EXPECT_EQ(parts(R"(\\bb)", "ab b"), 2);      // "ab ", b
  EXPECT_EQ(parts(R"(\\w+)", "a\u200da"), 3);  // a joiner is no letter
}

// The whole text, as the normalizer leaves it, in byte-level characters that decode to it.
std::string normalized(const std::string& normalizer, const std::string& text) {
  std::string vocabulary;
  for (int byte = 0, next = 0x100; byte < 256; ++byte) {
    const bool shown = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", shown ? byte : next++);
    vocabulary += (byte == 0 ? "\"" : ", \"") + std::string(code) + "\": " + std::to_string(byte);
  }
  const SmallTokenizer file{
      .model = R"({"type": "BPE", "merges": [], "vocab": {)" + vocabulary + "}}",
      .normalizer = normalizer,
      .pre_tokenizer = R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false})",
      .decoder = R"({"type": "ByteLevel"})"};
  const auto tokenizer = file.make();
  return tokenizer.decode(tokenizer.encode(text).ids);
}

TEST(PretrainedSteps, CharactersAreThoseOfTheUnicodeOfTokenizers) {
  const std::string nfkc = R"({"type": "NFKC"})";
  EXPECT_EQ(normalized(nfkc, "\u33a0e\u0301"), "cm2\u00e9");
  EXPECT_EQ(normalized(nfkc, "\u32ff"), "\u32ff");  // of Unicode 12.1
  const std::string bert = R"({"type": "BertNormalizer", "clean_text": true,
                               "handle_chinese_chars": true, "strip_accents": null,
                               "lowercase": true})";
  EXPECT_EQ(normalized(bert, "\u00c9\u0130\u1734"), "ei");
  EXPECT_EQ(normalized(bert, "\u1885\u08d4"), "\u1885\u08d4");  // no Mn of Unicode 8
  EXPECT_EQ(normalized(bert, "a\u4e2db\u00a0\u200b\ufffd\n"), "a \u4e2d b  ");
  const std::string strip = R"({"type": "StripAccents"})";
  EXPECT_EQ(normalized(strip, "e\u0301\u08d4\u1cf2"), "e");
  EXPECT_EQ(normalized(strip, "\u00e9\u0898"), "\u00e9\u0898");  // 0898 is of Unicode 14
}

// V I II and V II I are equal but for the last bits, which are those of serde_json.
TEST(PretrainedSteps, ScoresAreReadAsTokenizersReadsThem) {
  const SmallTokenizer file{.model = R"({"type": "Unigram", "unk_id": 0, "vocab": [["u", -99.0],
      ["V", -3.8565113037622196], ["I", -6.958359594410615], ["II", -7.60883255636816]]})"};
  EXPECT_EQ(file.make().encode("VIII").ids, (std::vector<std::int64_t>{1, 3, 2}));
}

}  // namespace
}  // namespace sextant
