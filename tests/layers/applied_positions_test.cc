// Each kind of scheme lands where it belongs.
#include "sextant/layers/applied_positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/schemes/scheme.h"
#include "support/error_of.h"

namespace sextant {
namespace {

using Positions = AppliedPositions<double>;

TEST(AppliedPositions, MakesExactlyTheTableOfTheSchemesKind) {
  const std::int64_t ids[] = {0, 1, 2, 3, 4};
  for (const Scheme* scheme : schemes()) {
    const Positions applied(
        {.schemes = {std::string(scheme->name)}, .width = 8, .heads = 2, .head_dim = 4}, 5);
    EXPECT_EQ(applied.added.has_value(), scheme->kind == SchemeKind::added);
    EXPECT_EQ(applied.rotation.has_value(), scheme->kind == SchemeKind::rotated);
    EXPECT_EQ(applied.bias.has_value(), scheme->kind == SchemeKind::distance_bias);
    EXPECT_EQ(applied.indexed != nullptr, scheme->kind == SchemeKind::indexed_bias);
    EXPECT_EQ(applied.content != nullptr, scheme->kind == SchemeKind::content);
    const AppliedPositions<float> rounded(
        scheme->make(PositionOptions{
            .schemes = {std::string(scheme->name)}, .width = 8, .heads = 2, .head_dim = 4}
                         .request(std::string(scheme->name), ids)));
    AttentionOptions<float> options;
    rounded.set(options);
    EXPECT_EQ(options.rotation, rounded.rotation ? &*rounded.rotation : nullptr);
    EXPECT_EQ(options.bias, rounded.bias ? &*rounded.bias : nullptr);
    std::vector<const ScoreTerm*> terms;
    if (rounded.indexed) terms.push_back(rounded.indexed.get());
    if (rounded.content) terms.push_back(rounded.content.get());
    EXPECT_EQ(options.terms, terms);
    options.rotation = nullptr;
    rounded.set_terms(options);
    EXPECT_EQ(options.rotation, nullptr);
  }
}

TEST(AppliedPositions, AddsRowsOnlyForAddedSchemes) {
  Tensor<double> x({3, 4});
  Positions({.width = 4, .head_dim = 4}, 3).add_to(x);
  for (const double value : x.span()) EXPECT_EQ(value, 0);
  Positions({.schemes = {{"sinusoidal", {{"base", "100"}}}}, .width = 4}, 3).add_to(x);
  EXPECT_EQ(x(0, 1), 1);
  EXPECT_NEAR(x(2, 0), 0.9092974268256816, 0x1p-53);
  EXPECT_NEAR(x(2, 2), 0.19866933079506124, 0x1p-53);
}

TEST(AppliedPositions, LeavesTheLastChannelOfAnOddHeadAlone) {
  Tensor<double> x({1, 1, 2, 3});
  for (double& value : x.span()) value = 1;
  Positions({.schemes = {"rotary"}, .head_dim = 3}, 2).rotate_queries(x);
  EXPECT_EQ(x(0, 0, 0, 0), 1);  // position 0 turns nothing
  EXPECT_NEAR(x(0, 0, 1, 0), std::cos(1.0) - std::sin(1.0), 0x1p-51);
  EXPECT_NEAR(x(0, 0, 1, 1), std::cos(1.0) + std::sin(1.0), 0x1p-51);
  EXPECT_EQ(x(0, 0, 1, 2), 1);
}

TEST(AppliedPositions, TurnsKeysByTheirOwnTableWhereThereIsOne) {
  Positions applied({.schemes = {"rotary"}, .head_dim = 4}, 2);
  EXPECT_EQ(applied.key_rotation(), applied.query_rotation());
  auto keys = std::make_shared<RotationTable<double>>();
  keys->cos = Tensor<double>({2, 2});
  keys->sin = Tensor<double>({2, 2});
  for (double& value : keys->cos.span()) value = 2;
  applied.rotation->keys = keys;
  EXPECT_EQ(applied.key_rotation(), keys.get());
  Tensor<double> x({1, 1, 2, 4});
  for (double& value : x.span()) value = 1;
  applied.rotate_keys(x);
  for (const double value : std::as_const(x).span()) EXPECT_EQ(value, 2);
}

TEST(AppliedPositions, RoundsTheTablesOfQueriesAndOfKeys) {
  const PositionOptions options{.schemes = {"xpos"}, .head_dim = 4};
  const Positions exact(options, 3);
  const AppliedPositions<double, float> applied(options, 3);
  ASSERT_NE(applied.key_rotation(), applied.query_rotation());
  const auto expect_rounded = [](const Tensor<float>& found, const Tensor<double>& table) {
    ASSERT_EQ(found.shape(), table.shape());
    for (std::int64_t i = 0; i < table.count(); ++i) {
      EXPECT_EQ(found.data()[i], static_cast<float>(table.data()[i]));
    }
  };
  expect_rounded(applied.query_rotation()->sin, exact.query_rotation()->sin);
  expect_rounded(applied.key_rotation()->cos, exact.key_rotation()->cos);
  EXPECT_EQ(applied.key_rotation()->layout, exact.key_rotation()->layout);
}

TEST(AppliedPositions, TakesWeights) {
  SchemeWeights weights;
  weights.emplace("table", Tensor<double>({32, 1}));
  for (double& value : weights.at("table").span()) value = 3;
  const Positions applied({.schemes = {"t5"}}, 4, std::array{&std::as_const(weights)});
  for (const float value : applied.bias->values.span()) EXPECT_EQ(value, 3);
}

TEST(AppliedPositions, NamesTheSchemesWhenOneIsUnknown) {
  EXPECT_THAT(error_of([&] { Positions({.schemes = {"spiral"}}, 2); }),
              testing::AllOf(testing::HasSubstr("spiral"), testing::HasSubstr("rotary")));
  EXPECT_THROW(Positions({.schemes = {"rotary"}, .head_dim = 1}, 2), Error);
  EXPECT_THROW(Positions({.schemes = {{"rotary", {{"colour", "red"}}}}, .head_dim = 4}, 2), Error);
}

}  // namespace
}  // namespace sextant
