// Colours on dark screens.
#include "pictures/dark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "pictures/drawing.h"
#include "pictures/layout.h"
#include "sextant/core/tensor.h"
#include "sextant/pictures/charts.h"
#include "sextant/pictures/color.h"

namespace sextant::pictures {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Rgb rgb(const std::string& hex) {
  const auto value = static_cast<std::uint32_t>(std::strtoul(hex.c_str() + 1, nullptr, 16));
  return {static_cast<std::uint8_t>(value >> 16), static_cast<std::uint8_t>(value >> 8 & 0xff),
          static_cast<std::uint8_t>(value & 0xff)};
}

// What a colour is on a dark screen.
Rgb dark(std::string_view light) {
  const std::string style = dark_style("fill=\"" + std::string(light) + "\"");
  const std::size_t at = style.find("{fill:");
  return rgb(at == std::string::npos ? std::string(light) : style.substr(at + 6, 7));
}

TEST(Dark, HasRulesForTheColorsThereAre) {
  const std::string style = dark_style("<text fill=\"" + std::string(kInk) + "\">a</text>");
  EXPECT_THAT(style, HasSubstr("svg[role=img] [fill=\"" + std::string(kInk) + "\"]{fill:#"));
  EXPECT_THAT(style, Not(HasSubstr("stroke")));
  EXPECT_THAT(style, Not(HasSubstr(std::string(kMuted))));
}

TEST(Dark, TextAndMarksStandOut) {
  const Rgb paper = dark(kPaper);
  EXPECT_LT(contrast(paper, {0, 0, 0}), 1.3);
  for (const std::string_view text : {kInk, kMuted}) EXPECT_GE(contrast(dark(text), paper), 4.5);
  EXPECT_GE(contrast(dark(kAxis), paper), 3);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_GE(contrast(dark(series_color(i)), paper), 3) << series_color(i);
  }
}

// Paper is dark there, the white end of a scale is not.
TEST(Dark, ACellOfNoWeightStaysWhite) {
  Tensor<double> weights({2, 2});
  weights(0, 0) = weights(1, 1) = 1;
  const Picture map =
      draw(AttentionMaps{.weights = weights, .queries = {"a", "b"}, .keys = {"a", "b"}});
  const std::string cell = "<path d=\"M1 0h1v1h-1z\" ";
  const std::size_t at = map.svg.find(cell);
  ASSERT_NE(at, std::string::npos);
  const std::size_t fill = at + cell.size();
  EXPECT_THAT(map.svg.substr(fill), StartsWith("fill=\"#fff"));
  const std::string attribute = map.svg.substr(fill, map.svg.find('>', fill) - fill);
  EXPECT_THAT(dark_style(attribute), Not(HasSubstr("{fill:")));
}

}  // namespace
}  // namespace sextant::pictures
