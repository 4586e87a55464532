// Ids, offsets and decoded texts are those of the library tokenizers, for the families of published
// models: NAME.json and NAME.expected.json are made by generate.py.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "core/json/json.h"
#include "sextant/core/files.h"
#include "sextant/text/pretrained_tokenizer.h"
#include "support/folders.h"

namespace sextant {
namespace {

std::string file(const std::string& name) {
  return tests::data_folder() + "/text/pretrained/" + name;
}

Json expected(const std::string& name) {
  return Json::parse(read_file(file(name + ".expected.json")), name);
}

std::vector<std::int64_t> flat(const std::vector<TokenOffsets>& offsets) {
  std::vector<std::int64_t> all;
  for (const TokenOffsets& each : offsets) all.insert(all.end(), {each.begin, each.end});
  return all;
}

class PretrainedFamily : public testing::TestWithParam<const char*> {};

TEST_P(PretrainedFamily, GivesTheIdsAndOffsetsOfTokenizers) {
  const auto tokenizer = PretrainedTokenizer::load(file(GetParam() + std::string(".json")));
  const Json rows = expected(GetParam());
  ASSERT_GT(rows.size(), 50);
  for (const Json& row : rows) {
    const std::string text = row[0].text();
    const PretrainedEncoding made = tokenizer.encode(text);
    EXPECT_EQ(made.ids, row[1].get<std::vector<std::int64_t>>()) << text;
    EXPECT_EQ(flat(made.offsets), row[2].get<std::vector<std::int64_t>>()) << text;
    ASSERT_EQ(made.tokens.size(), made.ids.size());
    ASSERT_EQ(made.type_ids.size(), made.ids.size());
    for (std::size_t i = 0; i < made.ids.size(); ++i) {
      EXPECT_EQ(made.tokens[i], tokenizer.piece(made.ids[i]));
    }
    EXPECT_EQ(tokenizer.decode(made.ids), row[3].text()) << text;
  }
}

// The numbers are those of encode("the keys of", "a query") of tokenizers 0.23.
TEST(PretrainedPair, GivesTheIdsTypesAndOffsetsOfTokenizers) {
  struct Pair {
    const char* name;
    std::vector<std::int64_t> ids, types, offsets;
  };
  const Pair pairs[] = {{"bert",
                         {2, 187, 248, 193, 3, 39, 286, 3},
                         {0, 0, 0, 0, 0, 1, 1, 1},
                         {0, 0, 0, 3, 4, 8, 9, 11, 0, 0, 0, 1, 2, 7, 0, 0}},
                        {"bert_cased",
                         {2, 230, 297, 236, 3, 63, 326, 3},
                         {0, 0, 0, 0, 0, 1, 1, 1},
                         {0, 0, 0, 3, 4, 8, 9, 11, 0, 0, 0, 1, 2, 7, 0, 0}},
                        {"gpt2",
                         {83, 259, 393, 277, 64, 444},
                         {0, 0, 0, 0, 1, 1},
                         {0, 1, 1, 3, 3, 8, 8, 11, 0, 1, 1, 7}},
                        {"llama2",
                         {1, 532, 699, 395, 1, 365, 415, 790},
                         {0, 0, 0, 0, 0, 0, 0, 0},
                         {0, 0, 0, 4, 4, 9, 9, 11, 0, 0, 0, 1, 0, 2, 2, 7}},
                        {"llama3",
                         {700, 83, 259, 391, 277, 64, 440},
                         {0, 0, 0, 0, 0, 0, 0},
                         {0, 0, 0, 1, 1, 3, 4, 8, 9, 11, 0, 1, 2, 7}},
                        {"roberta",
                         {700, 268, 393, 277, 701, 701, 258, 444, 701},
                         {0, 0, 0, 0, 0, 0, 0, 0, 0},
                         {0, 0, 0, 3, 4, 8, 9, 11, 0, 0, 0, 0, 0, 1, 2, 7, 0, 0}},
                        {"t5",
                         {9, 80, 16, 1, 20, 104, 1},
                         {0, 0, 0, 0, 0, 0, 0},
                         {0, 3, 3, 8, 8, 11, 0, 0, 0, 1, 1, 7, 0, 0}},
                        {"xlmr",
                         {0, 96, 8, 63, 11, 1, 1, 96, 9, 91, 1},
                         {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                         {0, 0, 0, 1, 0, 3, 4, 8, 9, 11, 0, 0, 0, 0, 0, 1, 0, 1, 2, 7, 0, 0}}};
  for (const Pair& each : pairs) {
    SCOPED_TRACE(each.name);
    const auto tokenizer = PretrainedTokenizer::load(file(each.name + std::string(".json")));
    const PretrainedEncoding made = tokenizer.encode_pair("the keys of", "a query");
    EXPECT_EQ(made.ids, each.ids);
    EXPECT_EQ(made.type_ids, each.types);
    EXPECT_EQ(flat(made.offsets), each.offsets);
    const auto bare =
        tokenizer.encode_pair("the keys of", "a query", {.add_special_tokens = false}).ids;
    std::vector<std::int64_t> alone =
        tokenizer.encode("the keys of", {.add_special_tokens = false}).ids;
    const auto second = tokenizer.encode("a query", {.add_special_tokens = false}).ids;
    alone.insert(alone.end(), second.begin(), second.end());
    EXPECT_EQ(bare, alone);
  }
}

TEST_P(PretrainedFamily, IsOneForSeveralThreads) {
  const auto tokenizer = PretrainedTokenizer::load(file(GetParam() + std::string(".json")));
  const Json rows = expected(GetParam());
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (const Json& row : rows) {
        count += tokenizer.encode(row[0].text()).ids != row[1].get<std::vector<std::int64_t>>();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

INSTANTIATE_TEST_SUITE_P(All, PretrainedFamily,
                         testing::Values("bert", "bert_cased", "gpt2", "roberta", "llama3", "qwen2",
                                         "llama2", "t5", "xlmr", "steps"),
                         [](const auto& family) { return std::string(family.param); });

TEST(PretrainedTokenizer, KnowsItsTokens) {
  const auto tokenizer = PretrainedTokenizer::load(file("bert.json"));
  EXPECT_EQ(tokenizer.size(), 503);
  EXPECT_EQ(tokenizer.id_of("[CLS]"), 2);
  EXPECT_EQ(tokenizer.id_of("no such token"), std::nullopt);
  EXPECT_TRUE(tokenizer.is_special(2));
  EXPECT_FALSE(tokenizer.is_special(500));
  EXPECT_EQ(tokenizer.piece(500), "Sextant");
  EXPECT_EQ(tokenizer.max_length(), std::nullopt);
}

TEST(PretrainedTokenizer, AddsSpecialTokensWhereTheyAreWanted) {
  const auto tokenizer = PretrainedTokenizer::load(file("bert.json"));
  EXPECT_EQ(tokenizer.encode("").tokens, (std::vector<std::string>{"[CLS]", "[SEP]"}));
  EXPECT_TRUE(tokenizer.encode("", {.add_special_tokens = false}).ids.empty());
  const auto ids = tokenizer.encode("the [MASK]").ids;
  EXPECT_EQ(tokenizer.decode(ids), "the");
  EXPECT_EQ(tokenizer.decode(ids, false), "[CLS] the [MASK] [SEP]");
}

TEST(PretrainedTokenizer, OffsetsAreBytesOfTheTextGiven) {
  const auto tokenizer = PretrainedTokenizer::load(file("bert.json"));
  const std::string text = "\u00c9 \u4e2d.";
  const auto made = tokenizer.encode(text, {.add_special_tokens = false});
  EXPECT_EQ(made.offsets, (std::vector<TokenOffsets>{{0, 2}, {3, 6}, {6, 7}}));
}

}  // namespace
}  // namespace sextant
