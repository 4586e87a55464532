// Several schemes together are one after another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/random.h"
#include "sextant/layers/applied_positions.h"

namespace sextant {
namespace {

constexpr std::int64_t kLength = 5, kHeads = 2, kDim = 4;
constexpr std::int64_t kIds[] = {0, 1, 2, 3, 4};

// Temperatures that grow at once.
PositionOptions options_of(const std::string& scheme) {
  PositionOptions options{
      .schemes = {scheme}, .width = kHeads * kDim, .heads = kHeads, .head_dim = kDim};
  if (scheme == "temperature")
    options.schemes[0].parameters = {{"floor_scale", "2"}, {"attn_scale", "0.5"}};
  if (scheme == "rotary_yarn")
    options.schemes[0].parameters = {{"factor", "4"}, {"original_length", "64"}};
  return options;
}

SchemeTable table_of(const PositionOptions& options) {
  return find_scheme(options.schemes[0].scheme).make(options.request(options.schemes[0], kIds));
}

template <class R = float>
AppliedPositions<double, R> together(const std::vector<std::string>& schemes) {
  std::vector<SchemeTable> tables;
  for (const std::string& scheme : schemes) tables.push_back(table_of(options_of(scheme)));
  return AppliedPositions<double, R>(std::move(tables));
}

Tensor<double> random_heads(std::uint32_t seed) {
  NumpyRandom random(seed);
  Tensor<double> x({1, kHeads, kLength, kDim});
  for (double& value : x.span()) value = random.normal();
  return x;
}

// Scores with biases, a float64 mask for each, of q and k rotated by one scheme after another.
Tensor<double> one_after_another(const std::vector<std::string>& schemes) {
  Tensor<double> q = random_heads(1), k = random_heads(2), mask({1, kHeads, kLength, kLength});
  for (const std::string& scheme : schemes) {
    const auto alone = together<double>({scheme});
    alone.rotate_queries(q);
    alone.rotate_keys(k);
    if (!alone.bias) continue;
    for (std::int64_t h = 0; h < kHeads; ++h) {
      for (std::int64_t i = 0; i < kLength; ++i) {
        for (std::int64_t j = 0; j < kLength; ++j) {
          mask(0, h, i, j) +=
              static_cast<double>(alone.bias->values(h, j - i + alone.bias->origin));
        }
      }
    }
  }
  AttentionOptions<double> options;
  options.mask = std::as_const(mask).view();
  return attention_weights<double>(q, k, options, {.stage = Stage::biased});
}

// Rotations and the sum of biases are rounded to float32 once: scores of up to 16 within 2^-19.
TEST(CombinedPositions, AreOneAfterAnother) {
  const std::vector<std::vector<std::string>> lists = {
      {"rotary_yarn", "temperature"}, {"temperature", "rotary_mixed"},
      {"temperature", "xpos"},        {"rotary", "alibi"},
      {"alibi", "kerple_log"},        {"kerple_log", "alibi", "rotary", "temperature"}};
  for (const auto& list : lists) {
    const auto applied = together(list);
    AttentionOptions<double> options;
    options.causal = Causal::none;
    applied.set(options);
    const Tensor<double> scores = attention_weights<double>(random_heads(1), random_heads(2),
                                                            options, {.stage = Stage::biased});
    const Tensor<double> expected = one_after_another(list);
    for (std::int64_t i = 0; i < scores.count(); ++i) {
      ASSERT_LT(std::abs(expected.data()[i]), 16);
      EXPECT_NEAR(scores.data()[i], expected.data()[i], 0x1p-19) << testing::PrintToString(list);
    }
  }
}

TEST(CombinedPositions, MultiplyRotationsInFloat64) {
  const auto both = together<double>({"rotary", "temperature"});
  const auto rotary = together<double>({"rotary"}), scale = together<double>({"temperature"});
  for (std::int64_t i = 0; i < rotary.rotation->cos.count(); ++i) {
    const double tau = scale.rotation->cos.data()[i];
    EXPECT_EQ(both.rotation->cos.data()[i], rotary.rotation->cos.data()[i] * tau);
    EXPECT_EQ(both.rotation->sin.data()[i], rotary.rotation->sin.data()[i] * tau);
    EXPECT_EQ(both.key_rotation()->cos.data()[i], rotary.rotation->cos.data()[i]);
  }
}

TEST(CombinedPositions, AddRowsAndKeepOtherKinds) {
  const auto applied = together({"sinusoidal", "learned", "t5", "cope"});
  Tensor<double> x({kLength, kHeads * kDim}), expected(x.shape());
  applied.add_to(x);
  for (const char* scheme : {"sinusoidal", "learned"}) together({scheme}).add_to(expected);
  EXPECT_THAT(x.span(), testing::ElementsAreArray(expected.span()));
  EXPECT_TRUE(applied.bias.has_value());
  EXPECT_NE(applied.content, nullptr);
}

TEST(CombinedPositions, AddSlopesAndTheDistancesThatBothHave) {
  const auto bias = [](float value, std::int64_t distances, std::int64_t origin) {
    DistanceBias made{.values = Tensor<float>({1, distances}), .origin = origin};
    for (std::int64_t i = 0; i < distances; ++i) {
      made.values(0, i) = value * static_cast<float>(i - origin);
    }
    return made;
  };
  std::vector<SchemeTable> tables;
  tables.emplace_back(DistanceBias{.slopes = {0.5}});
  tables.emplace_back(bias(1, 7, 4));   // -4 .. 2
  tables.emplace_back(bias(10, 6, 2));  // -2 .. 3
  tables.emplace_back(DistanceBias{.slopes = {0.25}});
  const AppliedPositions<float> applied(std::move(tables));
  EXPECT_THAT(applied.bias->values.span(), testing::ElementsAre(-22, -11, 0, 11, 22));
  EXPECT_EQ(applied.bias->origin, 2);
  EXPECT_THAT(applied.bias->slopes, testing::ElementsAre(0.75));
}

TEST(CombinedPositions, RefuseWhatDoesNotFit) {
  const auto refused = [](std::vector<SchemeTable> tables, const std::string& why) {
    try {
      AppliedPositions<float> applied(std::move(tables));
      ADD_FAILURE() << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), "positions.scheme");
      EXPECT_THAT(error.what(), testing::HasSubstr(why));
    }
  };
  const auto two = [](const PositionOptions& first, const PositionOptions& second) {
    std::vector<SchemeTable> tables;
    tables.push_back(table_of(first));
    tables.push_back(table_of(second));
    return tables;
  };
  refused(two(options_of("rotary"), options_of("xpos")), "one rotation");
  refused(two(options_of("cope"), options_of("shaw")), "one content term");
  refused(two(options_of("fire"), options_of("fire")), "one bias by query and key");
  PositionOptions other = options_of("temperature");
  other.head_dim = 2;
  refused(two(options_of("rotary"), other), "same positions and channels");
  other = options_of("sinusoidal");
  other.width = 4;
  refused(two(options_of("learned"), other), "one shape");
  other = options_of("kerple_log");
  other.heads = 1;
  refused(two(options_of("alibi"), other), "same heads");
}

}  // namespace
}  // namespace sextant
