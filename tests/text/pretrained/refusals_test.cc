// What a tokenizer.json must not have: each fault has an Error with its key and its value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sextant/text/pretrained_tokenizer.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "text/pretrained/small.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

void expect_refused(const SmallTokenizer& file, const std::string& words) {
  EXPECT_THAT(error_of([&] { file.make(); }), HasSubstr("[t.json] must have " + words));
}

std::string added(const std::string& id, const std::string& content) {
  return R"([{"id": )" + id + R"(, "content": ")" + content +
         R"(", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true,
              "special": false}])";
}

TEST(PretrainedRefusals, NameTheKeyAndTheValue) {
  expect_refused({.normalizer = R"({"type": "Cyrillic"})"},
                 "one of BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, "
                 "Replace, Prepend, Nmt, ByteLevel, Sequence, Precompiled as normalizer.type, got "
                 "'Cyrillic'");
  expect_refused({.normalizer = R"({"type": "Precompiled", "precompiled_charsmap": "A!=="})"},
                 "base64 as normalizer.precompiled_charsmap, got 'A!=='");
  EXPECT_THAT(
      error_of([] {
        SmallTokenizer{.normalizer = R"({"type": "Precompiled", "precompiled_charsmap": "AAAA"})"}
            .make();
      }),
      HasSubstr("[t.json, normalizer.precompiled_charsmap] must have a valid normalisation "
                "table, got one that is cut"));
  expect_refused({.normalizer = R"({"type": "NFC", "form": 2})"},
                 "no key but type in normalizer, got 'form' with 2");
  expect_refused({.normalizer = R"({"type": "Sequence", "normalizers": [{"type": "X"}]})"},
                 "one of BertNormalizer");
  expect_refused({.pre_tokenizer = R"({"type": "UnicodeScripts"})"}, "one of BertPreTokenizer");
  expect_refused({.pre_tokenizer = R"({"type": "Punctuation", "behavior": "Dropped"})"},
                 "one of Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous as "
                 "pre_tokenizer.behavior, got 'Dropped'");
  expect_refused({.decoder = R"({"type": "CTC"})"}, "one of WordPiece");
  expect_refused(
      {.model = R"({"type": "Words", "vocab": {}})"},
      "one of WordPiece, WordLevel, BPE, Unigram, SentencePiece as model.type, got 'Words'");
  expect_refused({.more = R"("other": [1])"}, "no key but version");
  expect_refused({.more = R"("truncation": {"max_length": -1, "strategy": "LongestFirst",
                                             "stride": 0})"},
                 "an integer of 0 .. 2147483647 as truncation.max_length, got -1");
  expect_refused({.more = R"("padding": {"strategy": "All"})"},
                 "BatchLongest as padding.strategy, got 'All'");
}

TEST(PretrainedRefusals, OfVocabularies) {
  const auto words = [](const std::string& vocabulary) {
    return SmallTokenizer{.model = R"({"type": "WordLevel", "unk_token": "a", "vocab": )" +
                                   vocabulary + "}"};
  };
  expect_refused(words(R"({"a": 0, "b": 0})"), "each id once, got 0 of 'a' again");
  expect_refused(words(R"({"a": -1})"), "an integer of 0 .. 2147483647 as model.vocab['a']");
  expect_refused(words(R"({"a": 2147483648})"), "an integer of 0 .. 2147483647");
  expect_refused(words(R"({"a": 18446744073709551615})"), "an integer of 0 .. 2147483647");
  expect_refused(words(R"({"a": 1.5})"), "an integer of 0 .. 2147483647");
  expect_refused(words("[]"), "an object of tokens and ids as model.vocab, got an array");
  EXPECT_THAT(error_of([&] { words(R"({"a": 0, "a": 1})").make(); }), HasSubstr("twice"));
  // Holes cost nothing.
  const auto tokenizer = words(R"({"a": 2147483647})").make();
  EXPECT_EQ(tokenizer.size(), 2147483648);
  EXPECT_THAT(error_of([&] { tokenizer.piece(5); }),
              HasSubstr("[tokenizer.id] must be the id of a token"));
  EXPECT_THROW(tokenizer.piece(-1), Error);
  EXPECT_THROW(tokenizer.decode(std::vector<std::int64_t>{std::int64_t{1} << 40}), Error);
}

TEST(PretrainedRefusals, OfMerges) {
  const auto pairs = [](const std::string& merges, const std::string& more = "") {
    return SmallTokenizer{.model =
                              R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": )" +
                              merges + more + "}"};
  };
  EXPECT_EQ(pairs(R"(["a b"])").make().encode("ab").ids, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(pairs(R"([["a", "b"]])").make().encode("ab").ids, (std::vector<std::int64_t>{2}));
  expect_refused(pairs(R"(["a c"])"), "tokens of the vocabulary as model.merges[0], got 'ac'");
  expect_refused(pairs(R"(["b a"])"), "tokens of the vocabulary as model.merges[0], got 'ba'");
  expect_refused(pairs(R"(["ab"])"), "two tokens with one space between them");
  expect_refused(pairs(R"(["a b a"])"), "two tokens with one space between them");
  expect_refused(pairs(R"([["a"]])"), "two tokens as model.merges[0], got an array");
  expect_refused(pairs(R"([1])"), "text as model.merges[0], got 1");
  expect_refused(pairs("[]", R"(, "dropout": 0.1)"), "null or 0 as model.dropout, got 0.1");
  expect_refused(pairs("[]", R"(, "unk_token": "c")"),
                 "tokens of the vocabulary as model.unk_token");
}

TEST(PretrainedRefusals, OfAddedTokens) {
  expect_refused({.added_tokens = added("4", "x")}, "3, the next id, as added_tokens[0].id, got 4");
  expect_refused({.added_tokens = added("0", "a")},
                 "1, the id of this token in the vocabulary, as added_tokens[0].id, got 0");
  expect_refused({.added_tokens = added("3", "")}, "1 .. 1024 bytes as added_tokens[0].content");
  expect_refused({.normalizer = R"({"type": "Strip", "strip_left": true, "strip_right": true})",
                  .added_tokens = added("3", " ")},
                 "added tokens that normalization leaves something of");
}

TEST(PretrainedRefusals, OfSpecialTokensOfAnotherId) {
  expect_refused(
      {.post_processor = R"({"type": "BertProcessing", "sep": ["a", 2], "cls": ["b", 2]})"},
      "1, the id of 'a' as post_processor.sep[1], got 2");
  expect_refused(
      {.post_processor = R"({"type": "BertProcessing", "sep": ["c", 2], "cls": ["b", 2]})"},
      "tokens of the vocabulary in post_processor.sep[1], got 'c'");
}

TEST(PretrainedRefusals, OfTwoTexts) {
  const auto pair = [](const std::string& items) {
    return SmallTokenizer{.post_processor = R"({"type": "TemplateProcessing", "single": [],
                                                "special_tokens": {}, "pair": )" +
                                            items + "}"};
  };
  const std::string a = R"({"Sequence": {"id": "A", "type_id": 0}})",
                    b = R"({"Sequence": {"id": "B", "type_id": 1}})";
  expect_refused(pair("[" + a + "," + a + "]"), "one Sequence as post_processor.pair[1]");
  expect_refused(pair(R"([{"Sequence": {"id": "C", "type_id": 0}}])"),
                 "one of A, B as post_processor.pair[0].Sequence.id");
  const PretrainedTokenizer one = pair("[" + a + "]").make();
  EXPECT_THAT(error_of([&] { one.encode_pair("a", "b"); }),
              HasSubstr("[tokenizer.second] must not be given: post_processor.pair"));
  const PretrainedTokenizer both = pair("[" + b + "," + a + "]").make();
  EXPECT_EQ(both.encode_pair("a", "b").ids, (std::vector<std::int64_t>{2, 1}));
  EXPECT_THAT(error_of([&] { both.encode_pair("a", "b", {.truncate = true}); }),
              HasSubstr("[tokenizer.truncate] must be false for two texts"));
  EXPECT_THAT(error_of([&] { both.encode_pair("a", "\xff"); }), HasSubstr("[tokenizer.second]"));
}

TEST(PretrainedRefusals, OfRegularExpressionsThatIcuReadsOtherwise) {
  const auto expression = [](const std::string& pattern) {
    return SmallTokenizer{.pre_tokenizer = R"({"type": "Split", "behavior": "Isolated", "invert":
                                                false, "pattern": {"Regex": ")" +
                                           pattern + R"("}})"};
  };
  expect_refused(expression(R"(a{1,2}+)"), "no {n,m}+ in the regular expression");
  expect_refused(expression(R"([a--b])"), "no operators in sets in the regular expression");
  expect_refused(expression(R"([[:alpha:]])"), "no [ in sets");
  expect_refused(expression(R"(\\h)"), "no \\h in the regular expression");
  expect_refused(expression(R"((a)\\1)"), "no \\1 in the regular expression");
  expect_refused(expression(R"((?<name>a))"), "no (?<name");
  expect_refused(expression(R"((a)"), "a regular expression that ICU knows");
  expect_refused(expression(""), "a regular expression of 1 .. 4096 bytes");
  expect_refused(expression(std::string(4097, 'a')), "a regular expression of 1 .. 4096 bytes");
}

TEST(PretrainedRefusals, OfFilesThatAreNone) {
  const auto parse = [](const std::string& text) {
    return error_of([&] { PretrainedTokenizer::parse(text, "t.json"); });
  };
  EXPECT_THAT(parse("[]"), HasSubstr("[t.json] must be a JSON object, got array"));
  EXPECT_THAT(parse("{"), HasSubstr("must be valid JSON"));
  EXPECT_THAT(parse("{\"a\": \"\xff\"}"), HasSubstr("must be UTF-8"));
  EXPECT_THAT(parse(std::string(100000, '[')), HasSubstr("levels of JSON"));
  EXPECT_THAT(parse(R"({"version": "2.0"})"), HasSubstr("must have 1.0 as version, got '2.0'"));
  EXPECT_THAT(parse(R"({"version": "1.0"})"), HasSubstr("must have the key model"));
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { PretrainedTokenizer::load(folder.path()); }),
              HasSubstr("tokenizer.json"));
}

TEST(PretrainedRefusals, OfTexts) {
  const auto tokenizer = SmallTokenizer().make();
  EXPECT_THAT(error_of([&] { tokenizer.encode("a\xff"); }),
              HasSubstr("[tokenizer.text] must be UTF-8, got byte 0xff at offset 1"));
  const SmallTokenizer without{.model = R"({"type": "WordLevel", "vocab": {"a": 0}, "unk_token":
                                            "[UNK]"})"};
  EXPECT_THAT(error_of([&] { without.make().encode("b"); }),
              HasSubstr("[tokenizer.text] has a part that is not a piece"));
}

TEST(PretrainedTokenizer, IsToldFromTheFilesOfModelsOfOurs) {
  EXPECT_TRUE(PretrainedTokenizer::recognizes(SmallTokenizer().json()));
  EXPECT_FALSE(PretrainedTokenizer::recognizes(R"({"format": "sextant tokenizer 1"})"));
  EXPECT_FALSE(PretrainedTokenizer::recognizes("{"));
}

}  // namespace
}  // namespace sextant
