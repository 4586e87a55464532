// The text of ids one by one is the text of all of them.
#include "sextant/text/text_decoder.h"

#include <gtest/gtest.h>

#include <random>

namespace sextant {
namespace {

const std::vector<std::string> kTexts = {"the cat  sat\n\non the mat\n", "a\nb c", "the mat",
                                         "cat"};

std::vector<Tokenizer> tokenizers() {
  std::vector<Tokenizer> all;
  for (const auto kind : {TokenizerKind::word, TokenizerKind::character, TokenizerKind::subword}) {
    TokenizerTraining options{.kind = kind};
    if (kind == TokenizerKind::subword) options.vocabulary_size = 30;
    all.push_back(Tokenizer::train(kTexts, options));
  }
  return all;
}

TEST(TextDecoder, AddsUpToDecode) {
  std::mt19937 random(1);
  for (const Tokenizer& tokenizer : tokenizers()) {
    std::uniform_int_distribution<std::int64_t> any(0, tokenizer.size() - 1);
    for (int round = 0; round < 200; ++round) {
      TextDecoder decoder(tokenizer);
      std::vector<std::int64_t> ids;
      std::string text;
      for (int i = 0; i < 12; ++i) {
        ids.push_back(any(random));
        text += decoder.add(ids.back());
        ASSERT_EQ(text, tokenizer.decode(ids)) << name_of(tokenizer.kind());
      }
    }
  }
}

TEST(TextDecoder, JoinsAnyTokens) {
  const auto joined = [](const Tokenizer& tokenizer, const std::vector<std::string>& tokens) {
    return tokenizer.join(tokens);
  };
  const auto all = tokenizers();
  EXPECT_EQ(joined(all[0], {"", "a", "", "b", "\n", "", "c"}), "a  b\nc");
  EXPECT_EQ(joined(all[1], {"", "a", " ", "\n", "b"}), "a \nb");
  EXPECT_EQ(joined(all[2], {"\u2581a", "b\u2581c", "\n", "\u2581", "\u2581d", " e"}), "ab c\n d e");
  EXPECT_EQ(joined(all[2], {" \u2047 ", "a", "\n", " \u2047 "}), "\u2047 a\n\u2047 ");
}

}  // namespace
}  // namespace sextant
