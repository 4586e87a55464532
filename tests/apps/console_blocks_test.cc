// The console blocks of README.md and of all documents: their commands print what stands below
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
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

const std::filesystem::path kRoot = std::filesystem::path(sextant::tests::data_folder()) / "..";

std::vector<std::string> pages_with_consoles() {
  std::vector<std::string> pages{"README.md"};
  for (const char* folder : {"docs", "examples"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / folder)) {
      if (entry.path().extension() != ".md") continue;
      pages.push_back(entry.path().lexically_relative(kRoot).string());
    }
  }
  std::erase_if(pages, [](const std::string& page) {
    return contents((kRoot / page).string()).find("\n```console\n") == std::string::npos;
  });
  std::ranges::sort(pages);
  return pages;
}

class ConsoleBlocks : public testing::TestWithParam<std::string> {};

TEST_P(ConsoleBlocks, CommandsPrintWhatThePageSays) {
  const std::string path = (kRoot / GetParam()).string();
  const std::string page = contents(path);
  const std::vector<Line> lines = lines_of(page);
  const Folder folder;
  std::string written;
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
  }
  if (std::getenv("SEXTANT_UPDATE_GOLDEN") != nullptr) put(path, written);
}

INSTANTIATE_TEST_SUITE_P(Pages, ConsoleBlocks, testing::ValuesIn(pages_with_consoles()),
                         [](const auto& page) {
                           std::string name = page.param;
                           std::ranges::replace_if(
                               name,
                               [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
                               '_');
                           return name;
                         });

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
