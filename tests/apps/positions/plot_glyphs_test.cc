// What a command says of a PNG file with characters that no font has.
#include <gtest/gtest.h>

#include <filesystem>

#include "apps/run_program.h"
#include "sextant/pictures/canvas.h"

namespace sextant::app_tests {
namespace {

TEST(PngFiles, WithoutGlyphsForALabelAreOneWarning) {
  constexpr const char* kFonts = "/usr/share/fonts/truetype/dejavu";  // without Chinese
  if (!can_render_png() || !std::filesystem::exists(kFonts)) {
    GTEST_SKIP() << "needs librsvg, and Debian's fonts-dejavu-core";
  }
  const Folder folder;
  const std::string fonts = folder / "fonts.conf";
  put(fonts, std::string("<fontconfig><dir>") + kFonts + "</dir></fontconfig>");
  const auto attend = [&](const std::string& words, const char* file) {
    return shell("export FONTCONFIG_FILE=" + fonts + "\nsextant attend '" + words +
                 "' --split spaces -o " + folder / file);
  };
  const Outcome png = attend("the \u65e5 \u672c cat \u65e5", "a.png");
  EXPECT_EQ(png.code, 0);
  EXPECT_EQ(png.err,
            "sextant: warning: no installed font has glyphs for \u65e5\u672c, which a .png shows "
            "as boxes: install a font that has them (Debian: fonts-noto-cjk), or save as .svg\n");
  EXPECT_EQ(attend("the \u65e5 cat", "a.svg").err, "");
  EXPECT_EQ(attend("the cat", "a.png").err, "");
}

}  // namespace
}  // namespace sextant::app_tests
