// Tokens that are found before anything else, with every flag; the results are those of tokenizers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/pretrained/small.h"

namespace sextant {
namespace {

using Tokens = std::vector<std::string>;

struct Flags {
  bool single_word = false, lstrip = false, rstrip = false, normalized = false, special = false;
};

std::string added(int id, const std::string& content, const Flags& flags) {
  const auto word = [](bool flag) { return flag ? std::string("true") : std::string("false"); };
  return R"({"id": )" + std::to_string(id) + R"(, "content": ")" + content +
         R"(", "single_word": )" + word(flags.single_word) + R"(, "lstrip": )" +
         word(flags.lstrip) + R"(, "rstrip": )" + word(flags.rstrip) + R"(, "normalized": )" +
         word(flags.normalized) + R"(, "special": )" + word(flags.special) + "}";
}

PretrainedTokenizer with(const std::string& tokens, const std::string& normalizer = "") {
  return SmallTokenizer{.normalizer = normalizer,
                        .pre_tokenizer = R"({"type": "WhitespaceSplit"})",
                        .added_tokens = "[" + tokens + "]"}
      .make();
}

TEST(PretrainedAddedTokens, TakeTheSpacesBesideThemOnce) {
  const auto made = with(added(3, "x", {.lstrip = true, .rstrip = true})).encode("a  x  x\u3000b");
  EXPECT_EQ(made.tokens, (Tokens{"a", "x", "x", "b"}));
  EXPECT_EQ(made.offsets, (std::vector<TokenOffsets>{{0, 1}, {1, 6}, {6, 10}, {10, 11}}));
}

TEST(PretrainedAddedTokens, OfSingleWordsStandAlone) {
  const auto tokenizer = with(added(3, "x", {.single_word = true}));
  EXPECT_EQ(tokenizer.encode("x ax xa (x)x,").tokens,
            (Tokens{"x", "[UNK]", "[UNK]", "[UNK]", "x", "[UNK]", "x", "[UNK]"}));
  EXPECT_EQ(tokenizer.encode("\u00e9x").tokens, (Tokens{"[UNK]"}));
}

TEST(PretrainedAddedTokens, OfThoseThatBeginAtOnePlaceTheLongestIsFound) {
  const auto tokenizer =
      with(added(3, "x", {}) + ", " + added(4, "xyz", {}) + ", " + added(5, "yz", {}));
  EXPECT_EQ(tokenizer.encode("xyzxyyz").tokens, (Tokens{"xyz", "x", "[UNK]", "yz"}));
}

TEST(PretrainedAddedTokens, AreFoundInTheNormalizedTextWhereTheySaySo) {
  const std::string lower = R"({"type": "Lowercase"})";
  const auto tokenizer =
      with(added(3, "Xx", {.normalized = true}) + ", " + added(4, "Yy", {.special = true}), lower);
  const auto made = tokenizer.encode("xXyyYyxx");
  EXPECT_EQ(made.tokens, (Tokens{"Xx", "[UNK]", "Yy", "Xx"}));
  EXPECT_EQ(tokenizer.decode(made.ids), "xx [UNK] xx");
  EXPECT_TRUE(tokenizer.is_special(4));
  EXPECT_FALSE(tokenizer.is_special(3));
}

}  // namespace
}  // namespace sextant
