// Every scheme of the list has its page, and the pages' index says of each what the list says. With
// SEXTANT_UPDATE_GOLDEN=1 the index is written instead.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

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
    text += "## " + std::string(name_of(kind)) + "\n\n| scheme | idea | paper |\n|---|---|---|\n";
    for (const Scheme* scheme : schemes()) {
      if (scheme->kind != kind) continue;
      const std::string name(scheme->name);
      text += "| [" + name + "](" + name + ".md) | " + std::string(scheme->idea) + " | " +
              std::string(scheme->paper) + " |\n";
    }
    text += "\n";
  }
  return text;
}

TEST(Pages, EverySchemeHasOne) {
  for (const Scheme* scheme : schemes()) {
    SCOPED_TRACE(scheme->name);
    std::string text = page(std::string(scheme->name) + ".md");
    EXPECT_EQ(text.substr(0, text.find('\n')), "# " + std::string(scheme->name));
    const auto says = [&](const std::string& words) { return text.find(words) != text.npos; };
    EXPECT_TRUE(says("\n## Traps\n"));
    EXPECT_TRUE(says("\n## See it\n"));
    if (says("(rotary.md#parameters-common-to-rotations)")) text += page("rotary.md");
    for (const SchemeParameter& parameter : scheme->parameters) {
      EXPECT_TRUE(says("`" + std::string(parameter.name) + "`")) << parameter.name;
    }
    for (const SchemeWeight& weight : scheme->weights) {
      EXPECT_TRUE(says("`" + std::string(weight.name) + "`")) << weight.name;
    }
  }
}

TEST(Pages, TheIndexListsEveryScheme) {
  std::string index = page("README.md");
  const auto begin = index.find("## added\n"), end = index.rfind("\n\nIds of tokens");
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  const std::string expected = tables();
  if (std::getenv("SEXTANT_UPDATE_GOLDEN") != nullptr) {
    index.replace(begin, end + 2 - begin, expected);
    std::ofstream(kFolder + "README.md") << index;
    return;
  }
  EXPECT_EQ(index.substr(begin, end + 2 - begin), expected)
      << "run schemes_tests --gtest_filter='Pages.*' with SEXTANT_UPDATE_GOLDEN=1";
}

}  // namespace
}  // namespace sextant
