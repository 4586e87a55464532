#include "sextant/lessons/position_effect.h"

#include <gtest/gtest.h>

#include "sextant/core/numbers.h"

namespace sextant {
namespace {

PositionEffect effect_of(const SchemeSpecs& schemes, std::int64_t length = 6) {
  return position_effect(AppliedPositions<double>(
                             {.schemes = schemes, .width = 12, .heads = 2, .head_dim = 6}, length),
                         length);
}

TEST(PositionEffect, TellsTablesApart) {
  EXPECT_EQ(effect_of({}), PositionEffect::none);
  for (const char* scheme : {"sinusoidal", "rotary", "alibi", "cope", "alibi_2d"}) {
    EXPECT_EQ(effect_of({scheme}), PositionEffect::order) << scheme;
  }
  EXPECT_EQ(effect_of({{"chunk_mask", {{"chunk", "2"}}}}), PositionEffect::mask);
  EXPECT_EQ(effect_of({{"window", {{"left", "2"}}}}), PositionEffect::mask);
}

TEST(PositionEffect, OfOnePositionIsAlike) {
  EXPECT_EQ(effect_of({"sinusoidal"}, 1), PositionEffect::alike);
  EXPECT_EQ(effect_of({"temperature"}), PositionEffect::alike);
}

TEST(PositionEffect, OfSeveralIsTheOneThatDoesMost) {
  const SchemeSpec window{"window", {{"left", "2"}}};
  EXPECT_EQ(effect_of({window, "temperature"}), PositionEffect::mask);
  EXPECT_EQ(effect_of({window, "rotary"}), PositionEffect::order);
}

TEST(PositionEffect, SaysWhyOrderDoesNotShow) {
  Tensor<double> weights({2, 1, 3});
  for (std::int64_t head = 0; head < 2; ++head) weights(head, 0, 1) = 1;
  EXPECT_EQ(why_same(PositionEffect::none, weights), "");
  EXPECT_NE(why_same(PositionEffect::mask, weights).find("mask"), std::string::npos);
  weights(1, 0, 1) = 1 - 0x1p-40;
  weights(1, 0, 2) = 0x1p-40;
  EXPECT_NE(why_same(PositionEffect::order, weights).find(significant(0x1p-40, 2)),
            std::string::npos);
  weights(1, 0, 0) = 1e-3;
  EXPECT_EQ(why_same(PositionEffect::order, weights), "");
}

}  // namespace
}  // namespace sextant
