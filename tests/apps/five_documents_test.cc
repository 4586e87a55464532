// docs/five-documents.md: its console blocks print what it says they print.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "apps/run_program.h"

namespace sextant::app_tests {
namespace {

// A line of the page; of a console block, a command ("$ ...") or what it prints.
struct Line {
  std::string text;
  bool in_block = false;
};

std::vector<Line> lines_of(const std::string& page) {
  std::vector<Line> lines;
  bool in_block = false;
  for (std::size_t begin = 0; begin < page.size();) {
    const std::size_t end = std::min(page.find('\n', begin), page.size());
    const std::string text = page.substr(begin, end - begin);
    if (text.starts_with("```")) {
      in_block = text == "```console";
      lines.push_back({text, false});
    } else {
      lines.push_back({text, in_block});
    }
    begin = end + 1;
  }
  return lines;
}

TEST(FiveDocuments, CommandsPrintWhatThePageSays) {
  const std::string path = sextant::tests::data_folder() + "/../docs/five-documents.md";
  const std::string page = contents(path);
  const std::vector<Line> lines = lines_of(page);
  const Folder folder;
  std::string written;
  int commands = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    written += lines[i].text + "\n";
    if (!lines[i].in_block || !lines[i].text.starts_with("$ ")) continue;
    std::string command = lines[i].text.substr(2);
    while (i + 1 < lines.size() && lines[i + 1].in_block && lines[i + 1].text.starts_with("> ")) {
      command += "\n" + lines[++i].text.substr(2);
      written += lines[i].text + "\n";
    }
    std::string expected;
    while (i + 1 < lines.size() && lines[i + 1].in_block && !lines[i + 1].text.starts_with("$ ")) {
      expected += lines[++i].text + "\n";
    }
    const Outcome outcome =
        shell("cd '" + folder.path().string() + "' && NO_COLOR=1 && { " + command + "\n}");
    EXPECT_EQ(outcome.out, expected) << command << "\n" << outcome.err;
    const bool refused = outcome.out.starts_with("sextant: [");  // as D4 shows it
    EXPECT_EQ(outcome.code, refused ? 1 : 0) << command << "\n" << outcome.err;
    written += outcome.out;
    ++commands;
  }
  EXPECT_GT(commands, 30);
  if (std::getenv("SEXTANT_UPDATE_GOLDEN") != nullptr) put(path, written);
}

// The steps of the documents, each with a command and with the name of what does it in C++.
TEST(FiveDocuments, EveryStepHasACommandAndItsName) {
  const std::string page =
      contents(sextant::tests::data_folder() + "/../docs/five-documents.md") + "\n## ";
  constexpr std::pair<char, int> kSteps[] = {{'A', 10}, {'B', 6}, {'C', 5}, {'D', 4}, {'E', 5}};
  for (const auto& [document, steps] : kSteps) {
    for (int step = 1; step <= steps; ++step) {
      const std::string heading = std::string("\n### ") + document + std::to_string(step) + ". ";
      const auto begin = page.find(heading);
      ASSERT_NE(begin, page.npos) << heading;
      const auto text = page.substr(begin, page.find("\n##", begin + 1) - begin);
      EXPECT_NE(text.find("```console\n$ sextant "), text.npos) << heading;
      EXPECT_NE(text.find("C++:"), text.npos) << heading;
    }
  }
}

}  // namespace
}  // namespace sextant::app_tests
