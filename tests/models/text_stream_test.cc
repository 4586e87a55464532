// Generated text as it is shown, without a model.
#include "sextant/models/text_stream.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

const Tokenizer& words() {
  static const Tokenizer tokenizer = Tokenizer::train(std::vector<std::string>{"a b\nc d"});
  return tokenizer;
}

struct Shown {
  std::string text;
  bool stopped = false;
};

// What a stream that goes on from `prompt` shows of `made`.
Shown shown(const std::string& prompt, const std::string& made, const std::string& stop) {
  Shown result;
  TextStream stream(words(), prompt, words().encode(prompt), stop,
                    [&result](std::string_view part) { result.text += part; });
  for (const std::int64_t id : words().encode(made)) {
    if (!stream.add(id)) break;
  }
  stream.finish();
  result.stopped = stream.stopped();
  EXPECT_EQ(result.text, stream.text());
  return result;
}

TEST(TextStream, ShowsTheSpaceThatThePromptDoesNotEndWith) {
  EXPECT_EQ(shown("a b", "c d", "").text, " c d");
  EXPECT_EQ(shown("a b ", "c d", "").text, "c d");
  EXPECT_EQ(shown("a\n", "c\nd", "").text, "c\nd");
}

TEST(TextStream, FindsAStopInSeveralTokens) {
  EXPECT_EQ(shown("a", "b c d a", "c d").text, " b ");
  EXPECT_TRUE(shown("a", "b c d a", "c d").stopped);
  EXPECT_EQ(shown("a", "b b c d", "b c").text, " b ");
  EXPECT_EQ(shown("a", "b c c", "c c d").text, " b c c");
  EXPECT_FALSE(shown("a", "b c c", "c c d").stopped);
}

// With a text that is decoded again for every token this takes minutes.
TEST(TextStream, TakesTimeInProportionToTheTokens) {
  for (const std::string& stop : {std::string(), std::string("never there")}) {
    std::size_t bytes = 0;
    TextStream stream(words(), "a", words().encode("a"), stop,
                      [&bytes](std::string_view part) { bytes += part.size(); });
    const std::int64_t token = words().encode("b")[0];
    for (int i = 0; i < 300000; ++i) stream.add(token);
    stream.finish();
    EXPECT_EQ(bytes, 600000u);
  }
}

}  // namespace
}  // namespace sextant
