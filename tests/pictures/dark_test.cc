// Colours on dark screens.
#include "pictures/dark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "pictures/drawing.h"
#include "pictures/layout.h"
#include "sextant/pictures/color.h"

namespace sextant::pictures {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

}  // namespace
}  // namespace sextant::pictures
