// Perplexities by length: against one window at a time in float64, and the table as text.
#include "sextant/experiments/extrapolation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TransformerConfig config_of(const std::string& scheme) {
  TransformerConfig config;
  config.vocabulary = 11;
  config.width = 16;
  config.heads = 2;
  config.layers = 2;
  config.ffn_width = 32;
  config.schemes = {scheme};
  config.length = 8;
  return config;
}

std::vector<std::int64_t> text_of(std::int64_t count) {
  NumpyRandom random(5);
  std::vector<std::int64_t> text;
  for (std::int64_t i = 0; i < count; ++i) {
    text.push_back(static_cast<std::int64_t>(random.uniform() * 11));
  }
  return text;
}

// The same weights in float64.
LanguageModel<double> widened(LanguageModel<float>& model) {
  LanguageModel<double> wide(model.config);
  auto to = wide.parameters();
  const auto from = model.parameters();
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::ranges::copy(from[i].tensor->span(), to[i].tensor->data());
  }
  return wide;
}

// The log likelihood of token `target` when the model sees [begin, target) and nothing else.
double single(LanguageModel<double>& model, const std::vector<std::int64_t>& text,
              std::int64_t begin, std::int64_t target) {
  TokenBatch batch;
  batch.tokens.assign(text.begin() + begin, text.begin() + target);
  batch.segments = {0, target - begin};
  batch.targets.assign(batch.tokens.size(), -1);
  batch.targets.back() = text[static_cast<std::size_t>(target)];
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  return model.log_likelihoods(batch, pass)(target - begin - 1);
}

constexpr ScoredTokens kScored{16, 21};  // the last piece and window are not full

// float32 activations of a few layers are off by some 100 units of 2^-24 relative to numbers of
// size one, logits of size 10 by no more than 1e-4; a mean of such is off by no more.
constexpr double kRelative = 1e-4;

TEST(SegmentPerplexity, IsThatOfEachTokenPredictedInItsPiece) {
  const auto text = text_of(40);
  for (const char* scheme : {"none", "sinusoidal", "rotary", "alibi", "t5", "kerple_log", "shaw"}) {
    LanguageModel<float> model(config_of(scheme));
    LanguageModel<double> wide = widened(model);
    for (const std::int64_t length : {2, 5, 8, 16}) {
      double sum = 0;
      for (std::int64_t i = 0; i < kScored.count; ++i) {
        const std::int64_t piece = kScored.first + i / length * length;
        sum += single(wide, text, piece - 1, kScored.first + i);
      }
      const double wanted = std::exp(-sum / static_cast<double>(kScored.count));
      const LengthScore score = segment_perplexity(model, text, kScored, length, {.threads = 1});
      ASSERT_TRUE(score.perplexity) << score.reason;
      EXPECT_NEAR(*score.perplexity, wanted, kRelative * wanted) << scheme << " " << length;
    }
  }
}

// So that the comparisons above and below can tell lengths apart.
TEST(SegmentPerplexity, DependsOnTheLengthByMoreThanRounding) {
  LanguageModel<float> model(config_of("none"));
  const auto score = [&](std::int64_t length) {
    return *segment_perplexity(model, text_of(40), kScored, length).perplexity;
  };
  EXPECT_GT(std::abs(score(2) - score(5)), 10 * kRelative * score(5));
  EXPECT_GT(std::abs(score(5) - score(16)), 10 * kRelative * score(16));
}

TEST(SlidingPerplexity, ScoresTheEndOfEachWindow) {
  const auto text = text_of(40);
  for (const char* scheme : {"none", "rotary", "alibi", "t5"}) {
    LanguageModel<float> model(config_of(scheme));
    LanguageModel<double> wide = widened(model);
    for (const auto& [length, stride] : {std::pair{2, 1}, {6, 4}, {16, 1}, {16, 16}}) {
      double sum = 0;
      for (std::int64_t i = 0; i < kScored.count; ++i) {
        const std::int64_t end = std::min(kScored.count, (i / stride + 1) * stride);
        sum += single(wide, text, kScored.first + end - 1 - length, kScored.first + i);
      }
      const double wanted = std::exp(-sum / static_cast<double>(kScored.count));
      const LengthScore score =
          sliding_perplexity(model, text, kScored, length, stride, {.threads = 1});
      ASSERT_TRUE(score.perplexity) << score.reason;
      EXPECT_NEAR(*score.perplexity, wanted, kRelative * wanted)
          << scheme << " " << length << " " << stride;
    }
  }
}

TEST(Perplexity, DoesNotDependOnBatchesAndThreads) {
  const auto text = text_of(40);
  LanguageModel<float> model(config_of("rotary"));
  const LengthScore one = segment_perplexity(model, text, kScored, 8, {.threads = 1});
  for (const std::int64_t tokens : {1, 20, 10000}) {
    const ScoringOptions options{.batch_tokens = tokens, .threads = 2};
    EXPECT_EQ(segment_perplexity(model, text, kScored, 8, options).perplexity, one.perplexity);
  }
}

TEST(Perplexity, IsNotThereBehindTheEndOfALearnedTable) {
  const auto text = text_of(40);
  LanguageModel<float> model(config_of("learned"));  // 8 positions
  EXPECT_TRUE(segment_perplexity(model, text, kScored, 8).perplexity);
  for (const LengthScore& score : {segment_perplexity(model, text, kScored, 9),
                                   sliding_perplexity(model, text, kScored, 9, 2)}) {
    EXPECT_FALSE(score.perplexity);
    EXPECT_THAT(score.reason, HasSubstr("learned"));
  }
}

TEST(Perplexity, IsNotThereForAModelThatIsNotFinite) {
  LanguageModel<float> model(config_of("none"));
  model.embedding.table()(0, 0) = std::numeric_limits<float>::quiet_NaN();
  const LengthScore score = segment_perplexity(model, text_of(40), kScored, 8);
  EXPECT_FALSE(score.perplexity);
  EXPECT_EQ(score.reason, "the loss per token is nan");
}

TEST(Perplexity, RefusesWhatCannotBeScored) {
  const auto text = text_of(40);
  LanguageModel<float> model(config_of("none"));
  const auto segments = [&](const ScoredTokens& scored, std::int64_t length) {
    return [=, &model] { segment_perplexity(model, text, scored, length); };
  };
  EXPECT_THAT(segments(kScored, 1), ThrowsMessage<Error>(HasSubstr("extrapolation.length")));
  for (const ScoredTokens& scored :
       {ScoredTokens{16, 25}, {16, 0}, {41, 1}, {7, 2}, {-1, 2}, {16, -3}}) {
    EXPECT_THAT(segments(scored, 8), ThrowsMessage<Error>(HasSubstr("extrapolation.scored")));
  }
  for (const std::int64_t stride : {0, 9}) {
    EXPECT_THAT([&] { sliding_perplexity(model, text, kScored, 8, stride); },
                ThrowsMessage<Error>(HasSubstr("extrapolation.stride")));
  }
  EXPECT_THAT([&] { segment_perplexity(model, text, kScored, 8, {.batch_tokens = 0}); },
              ThrowsMessage<Error>(HasSubstr("extrapolation.batch_tokens")));
  TransformerConfig masked = config_of("none");
  masked.kind = ModelKind::masked;
  LanguageModel<float> encoder(masked);
  EXPECT_THAT([&] { segment_perplexity(encoder, text, kScored, 8); },
              ThrowsMessage<Error>(HasSubstr("must be causal, got masked")));
}

TEST(ScoredTokens, AreWholeWindowsBehindTheFirst) {
  const auto of = [](std::int64_t text, std::int64_t longest, std::int64_t most) {
    const ScoredTokens scored = scored_tokens(text, longest, most);
    return std::pair(scored.first, scored.count);
  };
  EXPECT_EQ(of(100, 10, 1000), std::pair(std::int64_t{10}, std::int64_t{90}));
  EXPECT_EQ(of(109, 10, 1000), std::pair(std::int64_t{10}, std::int64_t{90}));
  EXPECT_EQ(of(100, 10, 35), std::pair(std::int64_t{10}, std::int64_t{30}));
  EXPECT_EQ(of(20, 10, 35), std::pair(std::int64_t{10}, std::int64_t{10}));
  EXPECT_EQ(of(100, 10, 4), std::pair(std::int64_t{10}, std::int64_t{4}));
  EXPECT_THROW(scored_tokens(19, 10, 35), Error);
  EXPECT_THROW(scored_tokens(19, 1, 35), Error);
  EXPECT_THROW(scored_tokens(19, 5, 0), Error);
}

TEST(TokensToScore, CountWhatGoesThroughTheModel) {
  EXPECT_EQ(tokens_to_score({10, 90}, 10, 0), 90);
  EXPECT_EQ(tokens_to_score({10, 90}, 10, 1), 900);
  EXPECT_EQ(tokens_to_score({10, 90}, 10, 4), 230);  // 23 windows, the last scores 2
}

ExtrapolationTable table() {
  ExtrapolationTable table{
      .train_length = 8, .steps = 3, .stride = 2, .scored = {16, 32}, .lengths = {8, 16}};
  table.rows.push_back({.label = "learned seed=1,2 \"x\"",
                        .schemes = {{"learned", {{"seed", "1"}}}},
                        .weights = 7,
                        .seconds = 1.5,
                        .validation_loss = 2.25,
                        .segments = {{5.5, ""}, {std::nullopt, "it ends"}},
                        .sliding = {{0.1, ""}, {std::nullopt, "it ends"}}});
  return table;
}

TEST(ExtrapolationTable, ComesBackFromItsJson) {
  const std::string json = format_json(table());
  const ExtrapolationTable back = parse_extrapolation(json, "file");
  EXPECT_EQ(format_json(back), json);
  EXPECT_EQ(back.rows[0].sliding[0].perplexity, 0.1);
  EXPECT_EQ(back.rows[0].segments[1].reason, "it ends");
}

TEST(ExtrapolationTable, IsALineOfCsvPerNumber) {
  EXPECT_EQ(format_csv(table()),
            "scheme,scoring,length,perplexity\n"
            "\"learned seed=1,2 \"\"x\"\"\",segments,8,5.5\n"
            "\"learned seed=1,2 \"\"x\"\"\",segments,16,\n"
            "\"learned seed=1,2 \"\"x\"\"\",sliding,8,0.1\n"
            "\"learned seed=1,2 \"\"x\"\"\",sliding,16,\n");
}

TEST(ExtrapolationTable, RefusesWhatIsNone) {
  std::string other = format_json(table());
  other.replace(other.find("\"format\": 2"), 11, "\"format\": 4");
  ExtrapolationTable uneven = table();
  uneven.rows[0].sliding.pop_back();
  for (const std::string& json :
       {std::string(), std::string("{}"), std::string("[1]"), other, format_json(uneven)}) {
    EXPECT_THAT([&] { parse_extrapolation(json, "file"); },
                ThrowsMessage<Error>(HasSubstr("[file]")));
  }
}

}  // namespace
}  // namespace sextant
