// The HTML page.
#include "sextant/pictures/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pictures/samples.h"
#include "sextant/core/error.h"
#include "sextant/pictures/charts.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Page, EscapesEverythingItIsGiven) {
  Page page("<b>\"T\"</b>", "a & b");
  page.section("<s>");
  page.paragraph("<script>alert(1)</script>");
  page.code("if (a < b)");
  page.table({{"<h>"}, {"x & y"}});
  page.verdict(true, "1 < 2");
  page.data("na\"me", "{}");
  const std::string html = page.html();
  EXPECT_THAT(html, HasSubstr("<h1>&lt;b&gt;&quot;T&quot;&lt;/b&gt;</h1>"));
  EXPECT_THAT(html, HasSubstr("a &amp; b"));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_THAT(html, HasSubstr("if (a &lt; b)"));
  EXPECT_THAT(html, HasSubstr(">&lt;h&gt;</th>"));
  EXPECT_THAT(html, HasSubstr(">x &amp; y</td>"));
  EXPECT_THAT(html, HasSubstr("download=\"na&quot;me.json\""));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

TEST(Page, NeedsNothingFromOutside) {
  Page page("Report");
  const Tensor<double> table = testing::sinusoids(20, 30);
  page.picture(draw(testing::panels_of(table, 0, {0, 1})), "Rows");
  page.picture(draw(testing::panels_of(table, 0, {2})), "More");
  std::string html = page.html();
  EXPECT_THAT(html, Not(HasSubstr("src=")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
  EXPECT_THAT(html, Not(HasSubstr("url(")));
  // The only addresses are the name of the SVG namespace.
  const std::string name = "xmlns=\"http://www.w3.org/2000/svg\"";
  for (std::size_t at = html.find(name); at != std::string::npos; at = html.find(name)) {
    html.erase(at, name.size());
  }
  EXPECT_THAT(html, Not(HasSubstr("://")));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
}

TEST(Page, AlignsColumnsOfNumbersOnly) {
  Page page("T");
  page.table({{"word", "index", "note"}, {"the", "-1.5e-3", "12"}, {"cat", "7", "n/a"}});
  const std::string html = page.html();
  EXPECT_THAT(html, HasSubstr("<td class=\"number\">7</td>"));
  EXPECT_THAT(html, HasSubstr("<td>the</td>"));
  EXPECT_THAT(html, HasSubstr("<td>12</td>"));
}

TEST(Page, ListsItsSectionsWhenThereAreSeveral) {
  Page page("T");
  page.section("One");
  page.section("Two");
  EXPECT_THAT(page.html(), Not(HasSubstr("<nav")));
  page.section("Three");
  EXPECT_THAT(page.html(), HasSubstr("<a href=\"#section-3\">Three</a>"));
  EXPECT_THAT(page.html(), HasSubstr("<h2 id=\"section-3\">Three</h2>"));
}

TEST(Page, CarriesItsDataAsADownload) {
  Page page("T");
  page.data("weights", "[1,2]");
  EXPECT_THAT(page.html(), HasSubstr("<a download=\"weights.json\" "
                                     "href=\"data:application/json;base64,WzEsMl0=\">"));
}

TEST(Page, HasPicturesForNarrowScreensBesideThoseForWideOnes) {
  const Tensor<double> weights = testing::weights(2, 15, 15);
  AttentionMaps maps{
      .weights = weights, .queries = testing::words(15), .keys = testing::words(15), .title = "T"};
  const Picture wide = draw(maps);
  maps.max_width = 350;
  Page page("T");
  page.picture(wide, draw(maps), "C");
  const std::string html = page.html();
  EXPECT_THAT(html, HasSubstr("@media screen { @container (width < "));
  EXPECT_THAT(html, HasSubstr("px) { .from-"));
  EXPECT_THAT(html, HasSubstr("<figure class=\"from-"));
  EXPECT_THAT(html, HasSubstr("<div class=\"picture on-wide\""));
  EXPECT_THAT(html, HasSubstr("<div class=\"picture on-narrow\""));
  EXPECT_THAT(html, HasSubstr("<figcaption>C</figcaption></figure>"));
}

TEST(Page, LetsPicturesShrinkUntilTheirTextIsTenPixelsHigh) {
  const auto page_of = [](double width, std::string_view text) {
    Page page("T");
    page.picture(Picture{.svg = "<svg width=\"1\">" + std::string(text) + "</svg>",
                         .width = width,
                         .height = 100,
                         .title = ""},
                 "");
    return page.html();
  };
  const std::string wide =
      page_of(1001,
              "<text font-size=\"14\">a</text><text font-size=\"12.5\">b</text><text "
              "font-size=\"16\">c</text>");
  EXPECT_THAT(wide, HasSubstr("--readable:801px"));  // 1001 * 10 / 12.5 = 800.8
  EXPECT_THAT(wide, HasSubstr("scrolls sideways"));
  EXPECT_THAT(page_of(350, "<text font-size=\"12.5\">b</text>"),
              Not(HasSubstr("scrolls sideways")));
  EXPECT_THAT(page_of(2000, "<path/>"), HasSubstr("--readable:0px"));
}

TEST(Page, RefusesWhatIsNoPicture) {
  Page page("T");
  EXPECT_THROW(page.picture(Picture{.svg = "<p>", .width = 1, .height = 1, .title = ""}, ""),
               Error);
  EXPECT_THROW(page.table({}), Error);
}

}  // namespace
}  // namespace sextant
