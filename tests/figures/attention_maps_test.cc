// Attention of sentences as pictures, JSON and a page.
#include "sextant/figures/attention_maps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/json/json.h"
#include "sextant/core/error.h"

namespace sextant::figures {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Sentence {
  SentenceAttentionOptions options{.width = 8, .heads = 2, .schemes = {"rotary"}, .causal = true};
  SentenceAttention attention = attend_sentences({"the", "cat", "sat"}, {}, options);
};

TEST(AttentionMaps, ATitleSaysSchemeAndMask) {
  const Sentence sentence;
  EXPECT_EQ(maps_of(sentence.attention, sentence.options).title,
            "Attention, rotary positions, causal");
}

TEST(AttentionMaps, HiddenPairsAreThoseOfTheMaskNotThoseOfWeightZero) {
  const Sentence sentence;
  const HeadMaps maps = maps_of(sentence.attention, sentence.options);
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      EXPECT_EQ(maps.drawn()(1, i, j), j > i ? -INFINITY : maps.weights(1, i, j));
    }
  }
  EXPECT_THAT(draw_maps(maps).svg, HasSubstr("the → cat: hidden"));
  // A scheme hides pairs too.
  SentenceAttentionOptions options{.width = 8, .heads = 2, .schemes = {"window"}};
  options.schemes[0].parameters = {{"left", "1"}, {"right", "1"}};
  const auto window = attend_sentences({"a", "b", "c"}, {}, options);
  EXPECT_EQ(window.masked_weights(0, 0, 2), -INFINITY);
  EXPECT_GT(window.masked_weights(0, 0, 0), 0);
  EXPECT_EQ(window.weights(0, 0, 2), 0);
}

TEST(AttentionMaps, OneHeadIsThatHead) {
  const Sentence sentence;
  const HeadMaps one = maps_of(sentence.attention, sentence.options, 1);
  EXPECT_EQ(one.weights.shape(), (Shape{1, 3, 3}));
  EXPECT_EQ(one.weights(0, 2, 1), sentence.attention.weights(1, 2, 1));
  EXPECT_THAT(draw_maps(one).svg, HasSubstr("Head 1"));
  EXPECT_THAT(draw_lines(one).svg, HasSubstr("· Head 1"));
  EXPECT_THROW(maps_of(sentence.attention, sentence.options, 2), Error);
}

TEST(AttentionMaps, JsonHasTheTokensOfOneTextAndTheWeights) {
  const Sentence sentence;
  const HeadMaps maps = maps_of(sentence.attention, sentence.options);
  const Json json = Json::parse(attention_json(maps, sentence.options, true));
  EXPECT_EQ(json["tokens"], json["queries"]);
  EXPECT_EQ(json["heads"], 2);
  EXPECT_EQ(json["weights"][1][2][0].get<double>(), sentence.attention.weights(1, 2, 0));
  EXPECT_EQ(json["weights"][0][0][2].get<double>(), 0);  // the mask
  const Json two = Json::parse(attention_json(maps, sentence.options, false));
  EXPECT_FALSE(two.contains("tokens"));
}

TEST(AttentionMaps, APageHasMapsLinesAndNumbers) {
  const Sentence sentence;
  const HeadMaps maps = maps_of(sentence.attention, sentence.options);
  const std::string page = attention_page(maps, sentence.options, true);
  EXPECT_THAT(page, HasSubstr(">Maps<"));
  EXPECT_THAT(page, HasSubstr(">Lines<"));
  EXPECT_THAT(page, HasSubstr("attention.json"));
  EXPECT_THAT(page, Not(HasSubstr("src=\"http")));
}

TEST(AttentionMaps, TokensTooLongForACellAreRefused) {
  EXPECT_NO_THROW(check_tokens({std::string(4096, 'a')}, "here"));
  EXPECT_THROW(check_tokens({"a", std::string(4097, 'a')}, "here"), Error);
}

}  // namespace
}  // namespace sextant::figures
