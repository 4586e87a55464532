// The options of attention between words: their texts, and what is refused.
#include "lessons/sentence_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

std::string read_again(SentenceAttentionOptions& options, std::string_view name,
                       std::string_view text) {
  std::string again;
  each_field<SentenceAttentionOptions>([&](const auto& field) {
    if (field.name != name) return;
    read_field(options, field, text, name);
    again = option_of(field, options).default_text;
  });
  return again;
}

std::string problem(std::string_view name, std::string_view text) {
  SentenceAttentionOptions options;
  return error_of([&] { read_again(options, name, text); });
}

TEST(SentenceFields, AreTextsThatAreReadBack) {
  SentenceAttentionOptions options;
  EXPECT_EQ(read_again(options, "window", "2,-1"), "2,-1");
  EXPECT_EQ(options.window.left, 2);
  EXPECT_EQ(options.window.right, -1);
  EXPECT_EQ(read_again(options, "hidden", "3:1,*:0,4:*"), "3:1,*:0,4:*");
  ASSERT_EQ(options.hidden.size(), 3U);
  EXPECT_EQ(options.hidden[1].query, -1);
  EXPECT_EQ(options.hidden[2].query, 4);
  EXPECT_EQ(options.hidden[2].key, -1);
  EXPECT_EQ(read_again(options, "hidden", "none"), "none");
  EXPECT_TRUE(options.hidden.empty());
  EXPECT_EQ(read_again(options, "sinks", "0.5,-1"), "0.5,-1");
  EXPECT_EQ(read_again(options, "sinks", "none"), "none");
  EXPECT_EQ(read_again(options, "causal", "yes"), "yes");
}

TEST(SentenceFields, RefuseOtherTexts) {
  for (const char* text : {"", "1", "1,2,3", "1,x", "1,-2", "1.5,0"}) {
    EXPECT_THAT(problem("window", text), HasSubstr("[window] must")) << text;
  }
  for (const char* text : {"", "3", "3:1,", ":", "-1:0", "3:1,*", "a:b", "1:2:3"}) {
    EXPECT_THAT(problem("hidden", text), HasSubstr("[hidden] must")) << text;
  }
  EXPECT_THAT(problem("sinks", "1,inf"), HasSubstr("must be finite"));
  EXPECT_THAT(problem("heads", "0"), HasSubstr("must be at least 1"));
}

}  // namespace
}  // namespace sextant
