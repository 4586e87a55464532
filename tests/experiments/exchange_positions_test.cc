// A trained model with other positions is the model that has its weights and those positions.
#include "sextant/experiments/exchange_positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TransformerConfig config(const std::string& scheme) {
  TransformerConfig c;
  c.vocabulary = 13;
  c.width = 16;
  c.heads = 2;
  c.layers = 2;
  c.length = 8;
  c.seed = 7;
  c.schemes = {scheme};
  return c;
}

std::vector<std::int64_t> tokens(std::int64_t count) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back((i * i + 3 * i) % 13);
  return all;
}

ExtrapolationOptions options(const std::vector<std::string>& schemes) {
  ExtrapolationOptions made;
  for (const std::string& scheme : schemes) made.schemes.push_back({scheme, {scheme}});
  made.test_lengths = {8, 16};
  made.stride = 4;
  made.scored = 32;
  made.threads = 1;
  return made;
}

void expect_row(const ExtrapolationRow& row, const LanguageModel<float>& model,
                const std::vector<std::int64_t>& text, const ExtrapolationTable& table) {
  for (std::size_t i = 0; i < table.lengths.size(); ++i) {
    EXPECT_EQ(row.segments[i].perplexity,
              segment_perplexity(model, text, table.scored, table.lengths[i]).perplexity);
    EXPECT_EQ(row.sliding[i].perplexity,
              sliding_perplexity(model, text, table.scored, table.lengths[i], 4).perplexity);
  }
}

TEST(ExchangePositions, ScoresTheSameWeightsWithOtherPositions) {
  LanguageModel<float> model(config("rotary"));
  const auto text = tokens(64);
  const auto found = exchange_positions(model, text, options({"none", "alibi"}));
  const ExtrapolationTable& table = found.table;
  EXPECT_FALSE(found.stopped);
  EXPECT_EQ(table.steps, 0);
  EXPECT_EQ(table.train_length, 8);
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0].label, "rotary, its own");
  EXPECT_THAT(table.rows[1].schemes, ElementsAre(SchemeSpec("none")));
  // Schemes that learn nothing: a model of the same seed has the same weights.
  expect_row(table.rows[0], model, text, table);
  expect_row(table.rows[1], LanguageModel<float>(config("none")), text, table);
  expect_row(table.rows[2], LanguageModel<float>(config("alibi")), text, table);
  EXPECT_NE(table.rows[1].segments[0].perplexity, table.rows[2].segments[0].perplexity);
}

TEST(ExchangePositions, LeavesTheModelAsItWas) {
  LanguageModel<float> model(config("learned"));
  const auto text = tokens(64);
  const auto scored = scored_tokens(64, 16, 32);
  const auto before = segment_perplexity(model, text, scored, 8).perplexity;
  const auto found = exchange_positions(model, text, options({"rotary"}));
  EXPECT_EQ(model.config.schemes, SchemeSpecs{"learned"});
  EXPECT_EQ(segment_perplexity(model, text, scored, 8).perplexity, before);
  EXPECT_FALSE(found.table.rows[0].segments[1].perplexity) << "a learned table ends";
  EXPECT_THAT(found.table.rows[0].segments[1].reason, HasSubstr("8"));
  EXPECT_TRUE(found.table.rows[1].segments[1].perplexity);
}

TEST(ExchangePositions, RefusesSchemesThatLearn) {
  LanguageModel<float> model(config("rotary"));
  const auto text = tokens(64);
  for (const char* scheme : {"learned", "t5", "kerple_log", "fire"}) {
    EXPECT_THAT(
        [&] {
          exchange_positions(model, text, options({"none", scheme}));
        },
        ThrowsMessage<Error>(HasSubstr("[extrapolation.schemes] must be schemes that learn "
                                       "nothing")))
        << scheme;
  }
  EXPECT_THAT([&] { model.replace_schemes({"t5"}); },
              ThrowsMessage<Error>(HasSubstr("[model.positions]")));
  EXPECT_EQ(model.config.schemes, SchemeSpecs{"rotary"});
}

TEST(ExchangePositions, StopsWhereItIsToldWithTheRowsThatItHas) {
  LanguageModel<float> model(config("rotary"));
  ExtrapolationOptions some = options({"none", "alibi"});
  int scored = 0;
  some.should_stop = [&scored] { return scored == 6; };
  const auto found = exchange_positions(model, tokens(64), some,
                                        [&scored](const ExtrapolationProgress&) { ++scored; });
  EXPECT_TRUE(found.stopped);
  EXPECT_EQ(found.table.rows.size(), 1u);
  EXPECT_EQ(model.config.schemes, SchemeSpecs{"rotary"});
}

}  // namespace
}  // namespace sextant
