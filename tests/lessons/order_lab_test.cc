// The laboratory's printed numbers, computed here once with NumPy 2.4 from its own
// description.
#include "sextant/lessons/order_lab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "sextant/core/error.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

// clang-format off
// All numbers of the laboratory without positions are sums of products of draws from [0, 1):
// nothing cancels, so relative errors add up. NumPy and we may each be wrong, in units of 2^-53, by
//
//   q, k, v   3                  three products, two additions
//   score     11                 q and k, three products and two additions, root and quotient
//   exponent  (11 + 1) s         absolute, s the largest score: taking that off is rounded too
//   weight    2 (12 s + 1) + 6   one exponential over the sum of six
//   output    weight + 3 + 6     six products with v
//
// Scores are below kLargestScore (checked), weights below 0.31, values and outputs below 1.5.
// clang-format on
constexpr double kBoth = 2 * 0x1p-53;
constexpr double kLargestScore = 2.1;
constexpr double kWeightUnits = 2 * (12 * kLargestScore + 1) + 6;
constexpr double kScoreDigits = kBoth * 11 * kLargestScore;
constexpr double kValueDigits = kBoth * 3 * 1.5;
constexpr double kWeightDigits = kBoth * kWeightUnits * 0.31;
constexpr double kOutputDigits = kBoth * (kWeightUnits + 9) * 1.5;

const char* const kOneOrder = "the zebra chased the lion .";
const char* const kOtherOrder = "the lion chased the zebra .";

double largest(const Tensor<double>& values) { return std::ranges::max(values.span()); }

void expect_last(const Tensor<double>& rows, const std::vector<double>& expected,
                 double tolerance) {
  ASSERT_EQ(rows.size(1), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(rows(rows.size(0) - 1, static_cast<std::int64_t>(i)), expected[i], tolerance) << i;
  }
}

TEST(OrderLab, DrawsTheLaboratorysWeights) {
  const OrderLab lab;
  ASSERT_EQ(lab.embeddings().shape(), Shape({6, 3}));
  EXPECT_EQ(lab.embeddings()(0, 0), 0.32156467800918354);
  EXPECT_EQ(lab.embeddings()(0, 1), 0.8460114347601038);
  EXPECT_EQ(lab.embeddings()(0, 2), 0.21877162838102282);
  EXPECT_EQ(lab.embeddings()(5, 2), 0.6696463695349911);
  EXPECT_THAT(lab.vocabulary().tokens(),
              testing::ElementsAre("<pad>", "the", "zebra", "chased", "lion", "."));
}

TEST(OrderLab, PrintsTheLaboratorysAttention) {
  const OrderLab::Result result = OrderLab().run(kOneOrder);
  EXPECT_THAT(result.tokens, testing::ElementsAre("the", "zebra", "chased", "the", "lion", "."));
  EXPECT_LT(largest(result.scores), kLargestScore);
  expect_last(result.scores,
              {0.66921785903222142, 0.68602527938829405, 0.39777211086767494, 0.66921785903222142,
               1.4463961480886025, 0.8914752451442518},
              kScoreDigits);
  expect_last(result.weights,
              {0.13882247893778413, 0.14117544495019235, 0.10582113241981449, 0.13882247893778413,
               0.3019840725301271, 0.17337439222429785},
              kWeightDigits);
  expect_last(result.values, {1.252747235696399, 1.2371522673367983, 0.9498554451071568},
              kValueDigits);
  expect_last(result.output, {1.1481937039255188, 1.2013677359003219, 1.0221718176342622},
              kOutputDigits);
}

TEST(OrderLab, MasksLaterWordsWithTheLaboratorysNumber) {
  const OrderLab::Result result = OrderLab().run(kOneOrder);
  for (std::int64_t query = 0; query < 6; ++query) {
    double sum = 0;
    for (std::int64_t key = 0; key < 6; ++key) {
      EXPECT_EQ(result.scores(query, key) == -2.3819763e38, key > query);
      EXPECT_EQ(result.weights(query, key) == 0, key > query);
      sum += result.weights(query, key);
    }
    EXPECT_NEAR(sum, 1, 12 * 0x1p-53);  // six divisions and six additions
  }
  EXPECT_EQ(result.weights(0, 0), 1);
}

TEST(OrderLab, CannotTellOrderWithoutPositions) {
  const OrderLab::Verdict verdict = OrderLab().compare(kOneOrder, kOtherOrder);
  EXPECT_TRUE(verdict.same);
  expect_last(verdict.second.weights,
              {0.13882247893778413, 0.3019840725301271, 0.10582113241981449, 0.13882247893778413,
               0.14117544495019235, 0.17337439222429785},
              kWeightDigits);
  EXPECT_LT(verdict.first.rounding, 1e-13);  // a verdict worth having
}

TEST(OrderLab, GivesTheSameOutputForEveryReorderingOfEarlierWords) {
  const OrderLab lab;
  std::array<std::string, 5> words{"chased", "lion", "the", "the", "zebra"};
  int seen = 0;
  do {
    std::string sentence;
    for (const std::string& word : words) sentence += word + " ";
    EXPECT_TRUE(lab.compare(kOneOrder, sentence + ".").same) << sentence;
    ++seen;
  } while (std::ranges::next_permutation(words).found);
  EXPECT_EQ(seen, 60);
}

TEST(OrderLab, CannotTellWhereTheLastWordDiffers) {
  const OrderLab::Verdict verdict = OrderLab().compare("lion the chased .", "chased the . lion");
  EXPECT_FALSE(verdict.same);
  EXPECT_TRUE(verdict.last_differs);
  EXPECT_LT(largest(verdict.first.scores), kLargestScore);
  EXPECT_LT(largest(verdict.second.scores), kLargestScore);
  expect_last(verdict.first.output, {1.2899358929089517, 1.341167805849576, 1.129420616468455},
              kOutputDigits);
  expect_last(verdict.second.output, {1.359176188648636, 1.421970864833317, 1.2098755525309532},
              kOutputDigits);
  EXPECT_NEAR(verdict.largest_difference, 1.421970864833317 - 1.341167805849576, 2 * kOutputDigits);
  // The lengths 2.1768 and 2.3094 by hand; the difference (0.0692, 0.0808, 0.0805).
  EXPECT_NEAR(verdict.distance, 0.05776611520248299, 1e-12);
  EXPECT_EQ(OrderLab().compare("the zebra .", "the zebra .").distance, 0);
}

TEST(OrderLab, ShowsOrderWithEveryScheme) {
  const OrderLab lab;
  // The toy model's width is 3: these need an even one and two frequencies. Of
  // its one pair a quarter is none; temperature sets in after 8191 words.
  const std::set<std::string_view> too_wide = {"fourier",
                                               "rotary_axial",
                                               "rotary_dynamic_ntk",
                                               "rotary_ntk",
                                               "rotary_proportional",
                                               "sincos_2d",
                                               "temperature",
                                               "timestep"};
  for (const Scheme* scheme : schemes()) {
    if (scheme->kind == SchemeKind::none || too_wide.contains(scheme->name)) continue;
    // Masks say what is seen and not where it stands.
    if (scheme->name.ends_with("_mask") || scheme->name.ends_with("window")) continue;
    const bool needs_a_file = std::ranges::any_of(
        scheme->parameters(), [](const Option& p) { return p.default_text.empty(); });
    if (needs_a_file) continue;
    const OrderLab::Verdict verdict =
        lab.compare(kOneOrder, kOtherOrder, {std::string(scheme->name)});
    EXPECT_FALSE(verdict.same) << scheme->name;
    EXPECT_GT(verdict.largest_difference, 1e-4) << scheme->name;  // one head's biases are small
    EXPECT_TRUE(lab.compare(kOneOrder, kOneOrder, {std::string(scheme->name)}).same)
        << scheme->name;
  }
}

// A wider model has room for every scheme.
TEST(OrderLab, TakesAnotherWidthVocabularyAndSeed) {
  const OrderLab wide({.words = {"a", "b", "c", "d"}, .width = 8, .seed = 5});
  EXPECT_EQ(wide.embeddings().shape(), Shape({4, 8}));
  EXPECT_NE(wide.embeddings()(0, 0), OrderLab().embeddings()(0, 0));
  EXPECT_TRUE(wide.compare("a b c", "b a c").same);
  for (const char* scheme : {"fourier", "rotary_axial", "rotary_dynamic_ntk", "rotary_ntk",
                             "rotary_proportional", "sincos_2d", "timestep"}) {
    EXPECT_FALSE(wide.compare("a b c d", "b a c d", {scheme}).same) << scheme;
  }
  EXPECT_THROW(wide.run("the"), Error);
  EXPECT_THROW(OrderLab({.width = 0}), Error);
  EXPECT_THROW(OrderLab({.words = {}}), Error);
  EXPECT_THROW(OrderLab({.words = {"a", "a"}}), Error);
}

// Of the one pair of width 3 a quarter is none, and temperature sets in after 8191 words.
TEST(OrderLab, SaysWherePositionsAreAlike) {
  const OrderLab lab;
  for (const char* scheme : {"rotary_proportional", "temperature"}) {
    const OrderLab::Verdict verdict = lab.compare(kOneOrder, kOtherOrder, {scheme});
    EXPECT_TRUE(verdict.same && verdict.first.positions == PositionEffect::alike) << scheme;
    EXPECT_EQ(verdict.why, why_same(PositionEffect::alike, {})) << scheme;
  }
  for (const char* scheme : {"rotary", "sinusoidal", "alibi"}) {
    EXPECT_EQ(lab.run(kOneOrder, {scheme}).positions, PositionEffect::order) << scheme;
    EXPECT_EQ(lab.compare(kOneOrder, kOtherOrder, {scheme}).why, "") << scheme;
  }
  EXPECT_EQ(lab.compare(kOneOrder, kOtherOrder).why, "");
}

TEST(OrderLab, TakesSchemesThatGoTogether) {
  const OrderLab lab;
  const double one = lab.compare(kOneOrder, kOtherOrder, {"rotary"}).largest_difference;
  const double both = lab.compare(kOneOrder, kOtherOrder, {"rotary", "alibi"}).largest_difference;
  EXPECT_NE(one, both);
  EXPECT_FALSE(lab.compare(kOneOrder, kOtherOrder, {"rotary", "alibi"}).same);
  EXPECT_THROW(lab.run(kOneOrder, {"rotary", "rotary_linear"}), Error);
}

TEST(OrderLab, PassesParametersToTheScheme) {
  const OrderLab lab;
  // Positions times 10^-14 move the output by less than what rounding may.
  EXPECT_FALSE(lab.compare(kOneOrder, kOtherOrder, {{"sinusoidal", {{"scale", "0.001"}}}}).same);
  EXPECT_TRUE(lab.compare(kOneOrder, kOtherOrder, {{"sinusoidal", {{"scale", "1e-18"}}}}).same);
  EXPECT_THROW(lab.run(kOneOrder, {{"sinusoidal", {{"bases", "100"}}}}), Error);
  EXPECT_THROW(lab.run(kOneOrder, {"spiral"}), Error);
}

TEST(OrderLab, RefusesOtherWordsAndListsTheAllowedOnes) {
  try {
    OrderLab().run("the tiger chased the lion .");
    FAIL() << "tiger is not in the vocabulary";
  } catch (const Error& error) {
    for (const char* word : {"tiger", "<pad>", "the", "zebra", "chased", "lion", "."}) {
      EXPECT_THAT(error.what(), testing::HasSubstr(word));
    }
  }
  EXPECT_THROW(OrderLab().run(""), Error);
  EXPECT_THROW(OrderLab().compare(kOneOrder, "  "), Error);
  EXPECT_THROW(OrderLab().compare("the zebra .", "the lion ."), Error);
}

}  // namespace
}  // namespace sextant
