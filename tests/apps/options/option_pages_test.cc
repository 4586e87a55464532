// What a command's help says of an option is what the structs have, and what its page says. With
// SEXTANT_UPDATE_GOLDEN=1 the tables of the pages are written instead.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "apps/run_program.h"
#include "models/transformer_fields.h"
#include "support/folders.h"
#include "text/tokenizer_fields.h"
#include "training/tasks/task_fields.h"

namespace sextant::app_tests {
namespace {

// An option of a list of fields, or a flag, as help shows it.
struct Row {
  std::string name, value, meaning, range, default_text;  // "--width", "N"
};

std::string without_end(std::string text, std::string_view end) {
  if (text.ends_with(end)) text.resize(text.size() - end.size());
  return text;
}

Row row_of(const std::string& names, const std::string& text) {
  Row row{.name = names.substr(0, names.find(' ')), .meaning = text};
  if (row.name.size() < names.size()) row.value = names.substr(row.name.size() + 1);
  const auto open = text.rfind(" ("), split = text.find("; default ", open);
  if (open == text.npos || split == text.npos || !text.ends_with(')')) return row;
  row.meaning = text.substr(0, open);
  row.range = text.substr(open + 2, split - open - 2);
  row.default_text = without_end(text.substr(split + 10), ")");
  return row;
}

// Of the groups between the first one and the scheme, whose options have lists of their own.
std::vector<Row> rows_of(const std::string& command) {
  std::istringstream help(shell("COLUMNS=100 sextant " + command + " --help").out);
  std::vector<Row> rows;
  std::string line, names, text;
  const auto finish = [&] {
    if (!names.empty()) rows.push_back(row_of(names, text));
    names.clear();
  };
  while (std::getline(help, line) && line != "Options:") {
  }
  while (std::getline(help, line) && line != "The scheme:" && line != "Examples:") {
    const bool goes_on = line.starts_with("      ");
    if (!goes_on) finish();
    const auto words = line.find_first_not_of(' ');
    if (words == line.npos) continue;
    if (goes_on) {
      text += (text.empty() ? "" : " ") + line.substr(words);
    } else if (line.starts_with("  --")) {
      const auto gap = line.find("  ", words);
      names = line.substr(words, gap - words);
      names.resize(std::min({names.size(), names.find(" REQUIRED"), names.find(" Excludes:")}));
      text = gap == line.npos ? "" : line.substr(line.find_first_not_of(' ', gap));
    }
  }
  return rows;
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

constexpr std::string_view kHeader = "| option | default | range | meaning |\n|---|---|---|---|\n";

std::string table_of(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    text += "| `" + row.name + (row.value.empty() ? "" : " " + row.value) + "` | " +
            row.default_text + " | " + with(row.range, " | ", ", ") + " | " +
            with(row.meaning, " | ", ", ") + " |\n";
  }
  return text;
}

class OptionPages : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(OptionPages, SayWhatHelpSays) {
  const auto [command, page] = GetParam();
  const std::string path = sextant::tests::data_folder() + "/../docs/" + page;
  std::string text = contents(path);
  auto heading = text.find("\n## Options of `" + std::string(command) + "`\n");
  if (heading == text.npos) heading = text.find("\n## " + std::string(command) + ": ");
  ASSERT_NE(heading, text.npos);
  const auto header = text.find(kHeader, heading);
  ASSERT_NE(header, text.npos);
  const auto begin = header + kHeader.size();
  auto end = begin;
  while (text[end] == '|') end = text.find('\n', end) + 1;
  const std::vector<Row> rows = rows_of(command);
  ASSERT_FALSE(rows.empty());
  const std::string expected = table_of(rows);
  if (std::getenv("SEXTANT_UPDATE_GOLDEN") != nullptr) {
    put(path, text.replace(begin, end - begin, expected));
    return;
  }
  EXPECT_EQ(text.substr(begin, end - begin), expected)
      << "run apps_tests --gtest_filter='*OptionPages*' with SEXTANT_UPDATE_GOLDEN=1";
}

INSTANTIATE_TEST_SUITE_P(Commands, OptionPages,
                         ::testing::Values(std::pair("train", "train.md"),
                                           std::pair("extrapolate", "extrapolate.md"),
                                           std::pair("generate", "cli.md"),
                                           std::pair("translate", "cli.md")),
                         [](const auto& given) { return std::string(given.param.first); });

// "192; translate 256, dates 64": of one task.
std::string default_of(const std::string& text, const std::string& task) {
  const auto others = text.find("; ");
  if (others == text.npos) return text;
  std::istringstream list(text.substr(others + 2));
  for (std::string one; std::getline(list >> std::ws, one, ',');) {
    const auto space = one.rfind(' ');
    if ((" " + one.substr(0, space) + " ").find(" " + task + " ") != one.npos) {
      return one.substr(space + 1);
    }
  }
  return text.substr(0, others);
}

// The numbers and names of a plan are the defaults of the options with their names.
TEST(TrainHelp, SaysTheDefaultsOfEveryTask) {
  std::map<std::string, Row> rows;
  int with_default = 0;
  for (const Row& row : rows_of("train")) {
    with_default += row.default_text.empty() ? 0 : 1;
    rows[row.name] = row;
  }
  const std::map<std::string, std::string> names{{"peak", "--rate"},
                                                 {"clip_norm", "--clip"},
                                                 {"minimum_count", "--min-count"},
                                                 {"kind", "--tokenizer"}};
  for (const std::string task : kTrainingKinds) {
    int compared = 0;
    const auto compare = [&]<class Options>(const Options& options,
                                            std::vector<std::string_view> others = {}) {
      each_field<Options>([&](const auto& field) {
        const auto& value = options.*field.member;
        using Value = std::remove_cvref_t<decltype(value)>;
        if constexpr (!kIsListOfStructs<Value>) {
          const auto renamed = names.find(std::string(field.name));
          const auto found =
              rows.find(renamed == names.end() ? "--" + with(std::string(field.name), "_", "-")
                                               : renamed->second);
          if (found == rows.end() || found->second.default_text.empty()) return;
          if (std::ranges::find(others, field.name) != others.end()) return;
          EXPECT_EQ(default_of(found->second.default_text, task), option_text(value))
              << task << " " << field.name;
          ++compared;
        }
      });
    };
    const TrainingPlan plan = default_plan(task);
    compare(plan.settings);
    compare(plan.settings.task, {"seed"});
    compare(plan.settings.tokenizer);
    compare(plan.trainer);
    compare(plan.epochs);
    compare(plan.trainer.optimiser);
    compare(plan.trainer.schedule, {"decay", "warmup", "steps"});  // they follow from --steps
    compare(plan.settings.model, {"kind", "vocabulary", "length", "seed"});
    EXPECT_EQ(compared + 4, with_default)
        << "all but --decay, --warmup, --vocabulary and --context-parallel";
  }
}

}  // namespace
}  // namespace sextant::app_tests
