// Scores and biases of schemes by distance.
#include "sextant/figures/scheme_profiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sextant/core/error.h"
#include "support/error_of.h"

namespace sextant::figures {
namespace {

using ::testing::HasSubstr;

NamedScheme named(std::string scheme, std::map<std::string, std::string> parameters = {}) {
  return {std::move(scheme), std::move(parameters), nullptr};
}

TEST(SchemeProfiles, ARotationsScoreIsTheMeanCosineOfItsAngles) {
  const ProfileOptions options{.length = 6, .first = 100, .head_dim = 4};
  const Series curve = profiles_of(named("rotary"), options).at(0);
  ASSERT_EQ(curve.y.size(), 6u);
  for (int distance = 0; distance < 6; ++distance) {  // angles 1 and 1 / 100 per position
    EXPECT_NEAR(curve.y[distance], (std::cos(distance) + std::cos(distance / 100.0)) / 2, 1e-12);
  }
}

TEST(SchemeProfiles, ABiasIsThatOfTheKeyBehindTheQuery) {
  const ProfileOptions options{.length = 4, .heads = 8, .head = 0};
  EXPECT_EQ(profiles_of(named("alibi"), options).at(0).y, (std::vector<double>{0, -0.5, -1, -1.5}));
}

constexpr double kHidden = -std::numeric_limits<double>::infinity();

TEST(SchemeProfiles, AWindowToTheLeftIsSeenToTheLeft) {
  const NamedScheme left = named("window", {{"left", "1"}, {"right", "0"}});
  EXPECT_EQ(profiles_of(left, {.length = 4, .heads = 1}).at(0).y,
            (std::vector<double>{0, 0, kHidden, kHidden}));
  const NamedScheme right = named("window", {{"left", "0"}, {"right", "2"}});
  EXPECT_EQ(profiles_of(right, {.length = 4, .heads = 1}).at(0).y,
            (std::vector<double>{0, kHidden, kHidden, kHidden}));
}

TEST(SchemeProfiles, ABiasByPairsIsThatOfTheLastQuery) {
  // Chunks of 3: the last of 5 positions sees itself and the one before it.
  EXPECT_EQ(profiles_of(named("chunk_mask", {{"chunk", "3"}}), {.length = 5, .heads = 1}).at(0).y,
            (std::vector<double>{0, 0, kHidden, kHidden, kHidden}));
}

TEST(SchemeProfiles, AQueryAheadOfItsKeyDecaysInXpos) {
  // zeta_k^(distance / scale_base), zeta_k = (2 k / 4 + 0.4) / 1.4 (Sun et al. 2022).
  const Series curve =
      profiles_of(named("xpos", {{"scale_base", "8"}}), {.length = 6, .head_dim = 4}).at(0);
  for (int distance = 0; distance < 6; ++distance) {
    const double expected = std::pow(0.4 / 1.4, distance / 8.0) * std::cos(distance) +
                            std::pow(0.9 / 1.4, distance / 8.0) * std::cos(distance / 100.0);
    EXPECT_NEAR(curve.y[static_cast<std::size_t>(distance)], expected / 2, 1e-12);
  }
}

TEST(SchemeProfiles, EveryHeadHasACurveWhereAllAreAskedFor) {
  const auto curves = profiles_of(named("alibi"), {.length = 4, .heads = 8, .all_heads = true});
  ASSERT_EQ(curves.size(), 8u);
  EXPECT_EQ(curves[3].name, "alibi, head 3");
  EXPECT_EQ(curves[7].y[1], -1.0 / 256);
}

TEST(SchemeProfiles, TheFigureHasAPanelPerKindAndAColumnPerCurve) {
  const Figure figure = plot_profiles({named("rotary", {{"base", "500"}}), named("alibi")},
                                      {.length = 5, .width = 8, .head_dim = 8});
  EXPECT_EQ(figure.values.shape(), (Shape{5, 3}));
  EXPECT_EQ(figure.columns, (std::vector<std::string>{"distance", "rotary base=500", "alibi"}));
  EXPECT_EQ(figure.values(4, 0), 4);
  EXPECT_EQ(figure.values(0, 1), 1);
  EXPECT_EQ(figure.values(0, 2), 0);
}

TEST(SchemeProfiles, PicturesSpellNamesAsPeopleDo) {
  const Figure figure = plot_profiles({named("alibi"), named("kerple_log")}, {.length = 5});
  EXPECT_THAT(figure.picture.svg, HasSubstr("ALiBi"));
  EXPECT_THAT(figure.picture.svg, HasSubstr("KERPLE log"));
  EXPECT_EQ(figure.columns[1], "alibi");  // in files the name
  EXPECT_EQ(named("rotary_yarn", {{"factor", "4"}}).name(), "YaRN factor=4");
  EXPECT_EQ(title_of({{"rotary", {}}, {"t5", {}}}), "rotary + T5 positions");
}

TEST(SchemeProfiles, WhatHasNoProfileIsRefused) {
  const auto refusal_of = [](const std::string& scheme, const ProfileOptions& options) {
    return error_of([&] { plot_profiles({named(scheme)}, options); });
  };
  EXPECT_THROW(plot_profiles({}), Error);
  EXPECT_THAT(refusal_of("none", {}), HasSubstr("which adds nothing"));
  EXPECT_THAT(refusal_of("cope", {}), HasSubstr("depend on q and k as well"));
  EXPECT_THAT(refusal_of("alibi", {.length = 1}), HasSubstr("[figure.length] must be 2 .. 4096"));
  EXPECT_THAT(refusal_of("alibi", {.heads = 4, .head = 4}),
              HasSubstr("[figure.head] must be 0 .. 3"));
}

}  // namespace
}  // namespace sextant::figures
