// Which characters a picture shows, and what is said of those that no font has.
#include "pictures/png/missing_glyphs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pictures/text.h"
#include "sextant/pictures/canvas.h"

namespace sextant::pictures {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char32_t kOfNoFont = 0x10FFFD;  // for private use

Picture with_text(std::u32string_view label) {
  const std::string text = encode(label);
  return {.svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><title>\u1234</title><text>" + text +
                 "<title>\u4321</title></text></svg>",
          .width = 10,
          .height = 10,
          .title = "",
          .description = ""};
}

TEST(MissingGlyphs, ReadsWhatIsDrawnAlone) {
  EXPECT_EQ(characters_of("<svg a=\"x\"><title>q</title><text>ba<tspan>b \u65e5</tspan>c"
                          "<title>z</title></text><style>.y{}</style></svg>"),
            U"abc\u65e5");
  EXPECT_EQ(characters_of(""), U"");
  EXPECT_EQ(characters_of("a<b"), U"a");
  EXPECT_EQ(characters_of("<a>b"), U"b");
}

TEST(MissingGlyphs, WarnsOfPngFilesOnceWithAllCharacters) {
  EXPECT_EQ(picture_warning("a.png", with_text(U"The cat")), "");
  const Picture lacking = with_text(std::u32string(2, kOfNoFont));
  EXPECT_EQ(picture_warning("a.svg", lacking), "");
  EXPECT_EQ(picture_warning("a.PNG", lacking), "no installed font has glyphs for " +
                                                   encode(std::u32string(1, kOfNoFont)) +
                                                   ", which a .png shows as boxes: save as .svg");
}

TEST(MissingGlyphs, NamesThePackagesOfDebian) {
  EXPECT_EQ(advice_on_glyphs(U""), "");
  EXPECT_THAT(advice_on_glyphs(U"\u65e5\u672c"), HasSubstr("(Debian: fonts-noto-cjk), or save as"));
  EXPECT_THAT(advice_on_glyphs(U"\uac00"), HasSubstr("(Debian: fonts-noto-cjk)"));
  EXPECT_THAT(advice_on_glyphs(U"\u0e01"), HasSubstr("(Debian: fonts-noto-core)"));
  EXPECT_THAT(advice_on_glyphs(U"\u65e5\U0001f600"),
              HasSubstr("(Debian: fonts-noto-cjk fonts-noto-color-emoji)"));
  EXPECT_THAT(advice_on_glyphs(U"\u0e01\u0e02"), Not(HasSubstr("others")));
  EXPECT_THAT(advice_on_glyphs(U"\u0e01\u0e02\u0e03\u0e04\u0e05\u0e06\u0e07\u0e08\u0e09"),
              HasSubstr("\u0e08 and others"));
}

}  // namespace
}  // namespace sextant::pictures
