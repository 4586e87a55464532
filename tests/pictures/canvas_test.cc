// Saving, rendering and stacking.
#include "sextant/pictures/canvas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "pictures/samples.h"
#include "pictures/svg_reader.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "sextant/pictures/charts.h"

namespace sextant {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Picture small_map() {
  const Tensor<double> weights = testing::weights(1, 3, 3);
  return draw(AttentionMaps{.weights = weights,
                            .queries = testing::words(3),
                            .keys = testing::words(3),
                            .title = "A <map>"});
}

// Width and height in the header of a PNG file: big-endian, bytes 16 to 23.
std::array<unsigned, 2> size_of(const std::string& png) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(png[i]); };
  const auto read = [&](std::size_t i) {
    return static_cast<unsigned>(at(i) << 24 | at(i + 1) << 16 | at(i + 2) << 8 | at(i + 3));
  };
  return {read(16), read(20)};
}

class SavedPicture : public ::testing::Test {
 protected:
  // Tests run side by side, each in a process of its own.
  SavedPicture()
      : folder_(::testing::TempDir() + "sextant_canvas_test_" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::create_directories(folder_);
  }
  ~SavedPicture() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

TEST_F(SavedPicture, IsWhatTheEndingSays) {
  const Picture picture = small_map();
  save_picture(path("a.svg"), picture);
  EXPECT_EQ(read_file(path("a.svg")), picture.svg);
  save_picture(path("a.PNG"), picture);
  EXPECT_THAT(read_file(path("a.PNG")), StartsWith("\x89PNG\r\n\x1a\n"));
  save_picture(path("a.pdf"), picture);
  EXPECT_THAT(read_file(path("a.pdf")), AllOf(StartsWith("%PDF-1."), HasSubstr("%%EOF")));
  save_picture(path("a.html"), picture);
  const std::string page = read_file(path("a.html"));
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(page, HasSubstr("<title>A &lt;map&gt;</title>"));
  EXPECT_THAT(page, HasSubstr("-t\">A &lt;map&gt;</title>"));
  EXPECT_THAT(page, HasSubstr("-d\">Heatmap of attention weights, 3 queries by 3 keys; "));
}

TEST_F(SavedPicture, RefusesOtherEndings) {
  for (const char* name : {"a.gif", "a", "a.svg/b", ".hidden/svg"}) {
    EXPECT_THROW(save_picture(path(name), small_map()), Error) << name;
  }
}

TEST(RenderPng, HasTheSizeAskedFor) {
  const Picture picture = small_map();
  for (const double scale : {0.5, 1.0, 2.0}) {
    const auto size = size_of(render_png(picture, scale));
    EXPECT_EQ(size[0], static_cast<unsigned>(std::ceil(picture.width * scale)));
    EXPECT_EQ(size[1], static_cast<unsigned>(std::ceil(picture.height * scale)));
  }
}

TEST(RenderPng, RefusesWhatCannotBeRendered) {
  const Picture picture = small_map();
  EXPECT_THROW(render_png(picture, 0), Error);
  EXPECT_THROW(render_png(picture, NAN), Error);
  EXPECT_THROW(render_png(picture, 1000), Error);  // beyond 16384 pixels
  EXPECT_THROW(render_png(Picture{}), Error);
  EXPECT_THROW(render_png(Picture{.svg = "<svg", .width = 10, .height = 10, .title = ""}), Error);
}

TEST(RenderPdf, IsAPageOfThePicturesSizeAndTheSameBytesEveryTime) {
  Picture picture = small_map();
  const std::string pdf = render_pdf(picture);
  const auto points = [](double pixels) { return fixed(pixels * 72 / 96, 0); };
  EXPECT_THAT(pdf, HasSubstr("MediaBox [ 0 0 " + points(picture.width)));
  EXPECT_THAT(pdf, HasSubstr("A <map>"));
  EXPECT_EQ(pdf, render_pdf(picture));
  picture.width = 20000;
  EXPECT_THROW(render_pdf(picture), Error);
  EXPECT_THROW(render_pdf(Picture{}), Error);
  EXPECT_THROW(render_pdf(Picture{.svg = "<svg", .width = 10, .height = 10, .title = ""}), Error);
}

TEST(Stack, KeepsEveryPictureWhole) {
  const Picture one = small_map();
  const Picture both = stack("Two maps", {one, one});
  const testing::Element root = testing::read_xml(both.svg);
  const auto nested = testing::all(root, "svg");
  ASSERT_EQ(nested.size(), 3u);
  EXPECT_EQ(nested[2].number("y") - nested[1].number("y"), one.height);
  EXPECT_GE(nested[1].number("y"), 20);  // below the title
  EXPECT_NEAR(both.height, nested[2].number("y") + one.height, 0.01);
  EXPECT_THAT(render_png(both), StartsWith("\x89PNG"));
  EXPECT_EQ(both.description, one.description + " " + one.description);
  std::set<std::string> ids;
  std::size_t count = 0;
  testing::for_each(root, [&](const testing::Element& element) {
    const auto id = element.attributes.find("id");
    if (id == element.attributes.end()) return;
    ids.insert(id->second);
    ++count;
  });
  EXPECT_EQ(count, 6u);
  EXPECT_EQ(ids.size(), 6u) << "also of two equal pictures";
  for (const auto& picture : nested) {
    EXPECT_EQ(picture.attributes.at("aria-labelledby"),
              picture.children.at(0).attributes.at("id") + " " +
                  picture.children.at(1).attributes.at("id"));
  }
}

TEST(Stack, RefusesNothingAndWhatIsNoPicture) {
  EXPECT_THROW(stack("", {}), Error);
  EXPECT_THROW(stack("", {Picture{.svg = "<p/>", .width = 1, .height = 1, .title = ""}}), Error);
}

}  // namespace
}  // namespace sextant
