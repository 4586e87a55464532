// Every scheme of the list has its page, whose table of parameters says what the list says, and so
// does the pages' index. With SEXTANT_UPDATE_GOLDEN=1 tables and index are written instead.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "sextant/schemes/scheme.h"
#include "support/folders.h"

namespace sextant {
namespace {

const std::string kFolder = sextant::tests::data_folder() + "/../docs/schemes/";

std::string page(const std::string& name) {
  std::ifstream file(kFolder + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The index's tables, one for each kind.
std::string tables() {
  std::string text;
  for (const SchemeKind kind : {SchemeKind::added, SchemeKind::rotated, SchemeKind::distance_bias,
                                SchemeKind::indexed_bias, SchemeKind::content, SchemeKind::none}) {
    text += "## " + std::string(name_of(kind)) +
            "\n\n| scheme | name | idea | paper |\n|---|---|---|---|\n";
    for (const Scheme* scheme : schemes()) {
      if (scheme->kind != kind) continue;
      const std::string name(scheme->name);
      text += "| [" + name + "](" + name + ".md) | " + std::string(scheme->title) + " | " +
              std::string(scheme->idea) + " | " + std::string(scheme->paper) + " |\n";
    }
    text += "\n";
  }
  return text;
}

bool updating() { return std::getenv("SEXTANT_UPDATE_GOLDEN") != nullptr; }

std::string with(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// What may stand there, without the bars that end a cell.
std::string allowed(const Option& option) {
  const std::string text = option.allowed();
  const bool names = std::holds_alternative<ChoiceRange>(option.range) ||
                     std::holds_alternative<FlagRange>(option.range);
  return with(text, " | ", names ? ", " : " or ");
}

constexpr std::string_view kHeader = "| name | default | range | meaning |\n|---|---|---|---|\n";
constexpr std::string_view kCommon =
    "[common to rotations](rotary.md#parameters-common-to-rotations)";

// The rows of a page's table; those that are as rotary's stand in its page alone.
std::string rows(const Scheme& scheme, bool without_common) {
  const auto common =
      without_common ? find_scheme("rotary").parameters() : std::span<const Option>();
  std::string text;
  for (const Option& option : scheme.parameters()) {
    const auto same = [&](const Option& other) {
      return other.name == option.name && other.default_text == option.default_text &&
             other.allowed() == option.allowed() && other.explained() == option.explained();
    };
    if (std::ranges::any_of(common, same)) continue;
    text += "| `" + std::string(option.name) + "` | " +
            (option.default_text.empty() ? "must be given" : option.default_text) + " | " +
            allowed(option) + " | " + with(option.explained(), "|", "\\|") + " |\n";
  }
  return text;
}

TEST(Pages, EverySchemeHasOne) {
  for (const Scheme* scheme : schemes()) {
    SCOPED_TRACE(scheme->name);
    const std::string text = page(std::string(scheme->name) + ".md");
    EXPECT_EQ(text.substr(0, text.find('\n')), "# " + std::string(scheme->name));
    const auto says = [&](const std::string& words) { return text.find(words) != text.npos; };
    EXPECT_TRUE(says("\n## Traps\n"));
    EXPECT_TRUE(says("\n## See it\n"));
    for (const SchemeWeight& weight : scheme->weights) {
      EXPECT_TRUE(says("`" + std::string(weight.name) + "`")) << weight.name;
    }
  }
}

TEST(Pages, TablesOfParametersAreThoseOfTheLists) {
  for (const Scheme* scheme : schemes()) {
    SCOPED_TRACE(scheme->name);
    const std::string name = std::string(scheme->name) + ".md";
    std::string text = page(name);
    const std::string expected = rows(*scheme, text.find(kCommon) != text.npos);
    const auto header = text.find(kHeader);
    ASSERT_EQ(header == text.npos, expected.empty());
    if (expected.empty()) continue;
    const auto begin = header + kHeader.size();
    auto end = begin;
    while (text[end] == '|') end = text.find('\n', end) + 1;
    if (updating()) {
      std::ofstream(kFolder + name) << text.replace(begin, end - begin, expected);
      continue;
    }
    EXPECT_EQ(text.substr(begin, end - begin), expected)
        << "run schemes_tests --gtest_filter='Pages.*' with SEXTANT_UPDATE_GOLDEN=1";
  }
}

TEST(Pages, TheIndexListsEveryScheme) {
  std::string index = page("README.md");
  const auto begin = index.find("## added\n"), end = index.rfind("\n\nIds of tokens");
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::string expected = tables();
  if (updating()) {
    index.replace(begin, end + 2 - begin, expected);
    std::ofstream(kFolder + "README.md") << index;
    return;
  }
  EXPECT_EQ(index.substr(begin, end + 2 - begin), expected)
      << "run schemes_tests --gtest_filter='Pages.*' with SEXTANT_UPDATE_GOLDEN=1";
}

}  // namespace
}  // namespace sextant
