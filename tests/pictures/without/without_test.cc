// Pictures without librsvg: everything but PNG files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/pictures/canvas.h"
#include "sextant/pictures/charts.h"
#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class WithoutLibrsvg : public ::testing::Test {
 protected:
  // Tests run side by side, each in a process of its own.
  WithoutLibrsvg()
      : folder_(::testing::TempDir() + "sextant_without_librsvg_" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder_);
  }
  ~WithoutLibrsvg() override { std::filesystem::remove_all(folder_); }
  // Throws as save_picture().
  std::string saved(const std::string& name) const {
    LinePanel panel;
    panel.series.push_back(counted("loss", {3, 2, 1}));
    LinePanels chart;
    chart.panels.push_back(panel);
    save_picture(folder_ + "/" + name, draw(chart));
    return read_file(folder_ + "/" + name);
  }

  std::string folder_;
};

TEST_F(WithoutLibrsvg, SavesSvgAndHtml) {
  EXPECT_FALSE(can_render_png());
  EXPECT_THAT(saved("a.svg"), StartsWith("<svg "));
  EXPECT_THAT(saved("a.html"), StartsWith("<!DOCTYPE html>"));
}

TEST_F(WithoutLibrsvg, APngFileIsAnErrorThatSaysWhatToDoAndLeavesNothing) {
  EXPECT_THAT(
      error_of([&] { saved("a.png"); }),
      ::testing::AllOf(HasSubstr("[picture.png] needs librsvg"), HasSubstr("save .svg or .html")));
  EXPECT_THROW(saved("a.pdf"), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace sextant
