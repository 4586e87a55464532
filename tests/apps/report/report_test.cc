// `sextant report`: one page that needs nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/run_program.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kDemo =
    "'The black cat sat on the couch and the brown dog slept on the rug.'";

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Report, TheDemosPageHasAllItsParts) {
  const Folder folder;
  const Outcome made = sextant("report " + std::string(kDemo) + " -o " + folder / "report.html");
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string page = contents(folder / "report.html");
  EXPECT_GE(count(page, "<svg"), 15U);
  EXPECT_LE(page.size(), 600'000U);  // other lengths: tests/pages/check_pages.py
  for (const char* part : {"couch", "rotary", "M_1", "0.72252", "0.860001",
                           "shows the order only with positions.", "report.json"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(Report, ThePageNeedsNoNetwork) {
  const std::string page = sextant("report 'dog bites man' -o -").out;
  for (const char* outside : {"src=\"http", "href=\"http", "url(http", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

TEST(Report, LongTextsShowTheirFirstSentences) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "Sentence number " + std::to_string(i) + " says little. ";
  put(folder / "long.txt", text);
  const Outcome made = sextant("report --file " + folder / "long.txt" + " -o -");
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("show the first 12 sentences (72 tokens)"));
  std::string endless;
  for (int i = 0; i < 100; ++i) endless += "word" + std::to_string(i) + " ";
  put(folder / "endless.txt", endless);
  EXPECT_THAT(sextant("report --file " + folder / "endless.txt" + " -o -").out,
              HasSubstr("the first 72 tokens of the first sentence"));
}

TEST(Report, OneWordIsEnoughAndMarkupIsText) {
  const Outcome one = sextant("report hello -o -");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("no two different words"));
  const Outcome markup = sextant("report '<script>alert(1)</script> & more' -o -");
  EXPECT_EQ(markup.code, 0) << markup.err;
  EXPECT_THAT(markup.out, Not(HasSubstr("<script>alert")));
}

TEST(Report, TheTwoWordsCanBeChosen) {
  const Outcome chosen = sextant("report " + std::string(kDemo) + " --words black,Brown -o -");
  EXPECT_EQ(chosen.code, 0) << chosen.err;
  EXPECT_THAT(
      chosen.out,
      HasSubstr("the <mark>brown</mark> cat sat on the couch and the <mark>black</mark> dog"));
  const Outcome absent = sextant("report 'a big dog' --words big,cat -o -");
  EXPECT_EQ(absent.code, 1);
  EXPECT_THAT(absent.err, StartsWith("sextant: [report.words]"));
  EXPECT_EQ(sextant("report 'a big dog' --words big -o -").code, 2);
}

TEST(Report, AnyTwoWordsOfALongTextCanBeCompared) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 30; ++i) text += "Nothing is said here, dear reader. ";
  text += "Then came the king. Later a young queen came.";
  put(folder / "long.txt", text);
  const Outcome made = sextant("report --file " + folder / "long.txt" + " --words king,Queen -o -");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out,
              HasSubstr("&#39;king&#39; at position 3 and &#39;queen&#39; at position 3"));
  EXPECT_THAT(made.out, HasSubstr("show the first"));
}

TEST(Report, WritesTheCardBesideThePage) {
  const Folder folder;
  const Outcome made = sextant("report 'Dog bites man!' -o " + folder / "page.html" + " --card " +
                               folder / "card.png" + " --url https://example.org/page.html");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(contents(folder / "card.png"), StartsWith("\x89PNG"));
  EXPECT_THAT(contents(folder / "page.html"),
              HasSubstr("content=\"https://example.org/card.png\""));
  EXPECT_EQ(sextant("report 'a b' -o - --card " + folder / "card.svg").code, 2);
}

TEST(Report, SavesItsPicturesForSlides) {
  const Folder folder;
  const Outcome made = sextant("report 'Dog bites man!' -o " + folder / "page.html" +
                               " --pictures " + folder / "a/slides");
  ASSERT_EQ(made.code, 0) << made.err;
  std::size_t svg = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "a/slides")) {
    if (entry.path().extension() != ".svg") continue;
    ++svg;
    const std::string png =
        contents(entry.path().string().replace(entry.path().string().size() - 3, 3, "png"));
    ASSERT_THAT(png, StartsWith("\x89PNG")) << entry.path();
    const auto width = [&png](std::size_t at) { return static_cast<unsigned char>(png[at]); };
    EXPECT_EQ(width(18) * 256 + width(19), 1920) << entry.path();
  }
  EXPECT_EQ(svg, count(contents(folder / "page.html"), "<figure"));
  EXPECT_TRUE(
      std::filesystem::exists(folder / "a/slides/6-rotation-turns-order-into-distance.svg"));
  put(folder / "file", "");
  const Outcome refused = sextant("report 'a b' -o - --pictures " + folder / "file/slides");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, StartsWith("sextant: [report.pictures]"));
  EXPECT_EQ(refused.out, "");
}

// The table names pictures of the report and those that `make slides` draws beside them; "..." is
// any text.
TEST(Report, TheTableForTeachersNamesItsPictures) {
  const Folder folder;
  const Outcome made = sextant("report " + std::string(kDemo) + " -o " + folder / "page.html" +
                               " --pictures " + folder / "slides");
  ASSERT_EQ(made.code, 0) << made.err;
  std::string names = contents(sextant::tests::data_folder() + "/../Makefile");
  for (const auto& entry : std::filesystem::directory_iterator(folder / "slides")) {
    names += "/slides/" + entry.path().filename().string() + "\n";
  }
  const std::string page = contents(sextant::tests::data_folder() + "/../docs/teach.md");
  const std::size_t begin = page.find("## Pictures for slides");
  const std::string table = page.substr(begin, page.find("\n## ", begin) - begin);
  const std::regex name("`([0-9]-[^`]*)`"), dots("\\.\\.\\.");
  std::size_t found = 0;
  for (std::sregex_iterator each(table.begin(), table.end(), name), end; each != end; ++each) {
    const std::string pattern = std::regex_replace((*each)[1].str(), dots, "[^/]*");
    EXPECT_TRUE(std::regex_search(names, std::regex("/slides/" + pattern + "\\.svg"))) << pattern;
    ++found;
  }
  EXPECT_GT(found, 20U);
}

TEST(Report, StdinIsADash) {
  EXPECT_THAT(shell("echo 'Dog bites man!' | sextant report - -o -").out, HasSubstr("bites"));
}

TEST(Report, RefusesTextThatIsNone) {
  const Folder folder;
  for (const char* wrong : {"report ''", "report $'\\xff\\xfe'", "report --file no-such"}) {
    const Outcome outcome = sextant(std::string(wrong) + " -o " + folder / "report.html");
    EXPECT_EQ(outcome.code, 1) << wrong;
    EXPECT_THAT(outcome.err, StartsWith("sextant: [")) << wrong;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "report.html"));
  EXPECT_EQ(sextant("report 'a b' -o " + folder / "report.txt").code, 2);
}

}  // namespace
}  // namespace sextant::app_tests
