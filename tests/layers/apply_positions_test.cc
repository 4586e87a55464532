// Each kind of scheme lands where it belongs.
#include "layers/apply_positions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/error.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

TEST(MakePositions, MakesExactlyTheTableOfTheSchemesKind) {
  for (const Scheme* scheme : schemes()) {
    const AppliedPositions applied = make_positions(std::string(scheme->name), {}, 5, 8, 2, 4);
    EXPECT_EQ(applied.added.has_value(), scheme->kind == SchemeKind::added);
    EXPECT_EQ(applied.rotation.has_value(), scheme->kind == SchemeKind::rotated);
    EXPECT_EQ(applied.bias.has_value(), scheme->kind == SchemeKind::distance_bias);
    EXPECT_EQ(applied.indexed != nullptr, scheme->kind == SchemeKind::indexed_bias);
    EXPECT_EQ(applied.content != nullptr, scheme->kind == SchemeKind::content);
    EXPECT_EQ(applied.rotation_or_null() != nullptr, applied.rotation.has_value());
    EXPECT_EQ(applied.bias_or_null() != nullptr, applied.bias.has_value());
  }
}

TEST(MakePositions, AddsRowsOnlyForAddedSchemes) {
  Tensor<double> x({3, 4});
  make_positions("none", {}, 3, 4, 1, 4).add_to(x);
  for (const double value : x.span()) EXPECT_EQ(value, 0);
  make_positions("sinusoidal", {{"base", "100"}}, 3, 4, 1, 4).add_to(x);
  EXPECT_EQ(x(0, 1), 1);
  EXPECT_NEAR(x(2, 0), 0.9092974268256816, 0x1p-53);
  EXPECT_NEAR(x(2, 2), 0.19866933079506124, 0x1p-53);
}

TEST(MakePositions, LeavesTheLastChannelOfAnOddHeadAlone) {
  Tensor<double> x({1, 1, 2, 3});
  for (double& value : x.span()) value = 1;
  make_positions("rotary", {}, 2, 3, 1, 3).rotate_heads(x);
  EXPECT_EQ(x(0, 0, 0, 0), 1);  // position 0 turns nothing
  EXPECT_NEAR(x(0, 0, 1, 0), std::cos(1.0) - std::sin(1.0), 0x1p-51);
  EXPECT_NEAR(x(0, 0, 1, 1), std::cos(1.0) + std::sin(1.0), 0x1p-51);
  EXPECT_EQ(x(0, 0, 1, 2), 1);
}

TEST(MakePositions, TurnsKeysByTheirOwnTableWhereThereIsOne) {
  AppliedPositions applied = make_positions("rotary", {}, 2, 4, 1, 4);
  EXPECT_EQ(applied.key_rotation_or_null(), applied.rotation_or_null());
  auto keys = std::make_shared<RotationTable<double>>();
  keys->cos = Tensor<double>({2, 2});
  keys->sin = Tensor<double>({2, 2});
  for (double& value : keys->cos.span()) value = 2;
  applied.rotation->keys = keys;
  EXPECT_EQ(applied.key_rotation_or_null(), keys.get());
  Tensor<double> x({1, 1, 2, 4});
  for (double& value : x.span()) value = 1;
  applied.rotate_keys(x);
  for (const double value : std::as_const(x).span()) EXPECT_EQ(value, 2);
}

TEST(MakePositions, TakesWeights) {
  SchemeWeights weights;
  weights.emplace("table", Tensor<double>({32, 1}));
  for (double& value : weights.at("table").span()) value = 3;
  const AppliedPositions applied = make_positions("t5", {}, 4, 8, 1, 8, &weights);
  for (const float value : applied.bias->values.span()) EXPECT_EQ(value, 3);
}

TEST(MakePositions, NamesTheSchemesWhenOneIsUnknown) {
  try {
    make_positions("spiral", {}, 2, 4, 1, 4);
    FAIL() << "spiral is no scheme";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("spiral"), testing::HasSubstr("rotary")));
  }
  EXPECT_THROW(make_positions("rotary", {}, 2, 1, 1, 1), Error);
  EXPECT_THROW(make_positions("rotary", {{"colour", "red"}}, 2, 4, 1, 4), Error);
}

}  // namespace
}  // namespace sextant
