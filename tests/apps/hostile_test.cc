// Walks tests/hostile: inputs that once did harm, and what must come of each. The README there says
// how a case is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "apps/models/trained_models.h"
#include "apps/run_program.h"

namespace sextant::app_tests {
namespace {

namespace fs = std::filesystem;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Case {
  std::vector<std::string> needs, says, silent, writes;
  std::string make, run;
  int code = -1, memory = 1024, seconds = 20;
};

Case read_case(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);  // what it is, for people
  Case result;
  const std::map<std::string, std::vector<std::string>*> lists = {{"needs", &result.needs},
                                                                  {"says", &result.says},
                                                                  {"silent", &result.silent},
                                                                  {"writes", &result.writes}};
  const std::map<std::string, int*> numbers = {
      {"code", &result.code}, {"memory", &result.memory}, {"seconds", &result.seconds}};
  while (std::getline(file, line)) {
    const std::size_t colon = line.find(": ");
    if (line.empty()) continue;
    const std::string field = line.substr(0, colon);
    const std::string value = colon == std::string::npos ? "" : line.substr(colon + 2);
    if (const auto list = lists.find(field); list != lists.end()) {
      list->second->push_back(value);
    } else if (const auto number = numbers.find(field); number != numbers.end()) {
      *number->second = std::stoi(value);
    } else if (field == "make" && !value.empty()) {
      result.make += value + "\n";
    } else if (field == "run" && !value.empty()) {
      result.run = value;
    } else {
      throw std::runtime_error(path + ": unknown line: " + line);
    }
  }
  if (result.run.empty() || result.code < 0) throw std::runtime_error(path + ": no run or code");
  return result;
}

std::vector<std::string> all_cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(sextant::tests::data_folder() + "/hostile")) {
    if (entry.path().extension() == ".case") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

// In each folder anew: run.json names the text by its whole path.
void train_run(const Folder& folder) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "abcdefghijklmnopqrstuvwxyz\n";
  put(folder / "text.txt", text);
  const Outcome made = shell("cd '" + folder.path().string() +
                             "'; sextant train lm --file text.txt --length 16 -o run --width 16 "
                             "--heads 2 --layers 1 --batch-size 4 --threads 1 --steps 2");
  if (made.code != 0) throw std::runtime_error(made.err);
}

void provide(const std::string& name, const Folder& folder) {
  constexpr auto kAll = fs::copy_options::recursive | fs::copy_options::copy_symlinks;
  if (name == "letters") {
    fs::copy(alphabet_model(), folder / name, kAll);
  } else if (name == "hidden") {
    fs::copy(
        trained_once([](const std::string& path) { save_alphabet_model(path, ModelKind::masked); }),
        folder / name, kAll);
  } else if (name == "turning") {
    fs::copy(turning_model(), folder / name, kAll);
  } else if (name == "run") {
    train_run(folder);
  } else {
    throw std::runtime_error("there is no model " + name);
  }
}

// Every file below a folder: its bytes, where a link leads; of very large files the size.
std::map<std::string, std::string> files_in(const fs::path& folder) {
  constexpr std::uintmax_t kMaxBytes = 1 << 26;
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_symlink()) {
      files[name] = "leads to " + fs::read_symlink(entry.path()).string();
    } else if (entry.is_regular_file()) {
      const std::uintmax_t size = entry.file_size();
      files[name] = size > kMaxBytes ? std::to_string(size) : contents(entry.path().string());
    }
  }
  return files;
}

void expect_untouched(const Case& one, const std::map<std::string, std::string>& before,
                      const std::map<std::string, std::string>& after) {
  const auto may_be_written = [&one](const std::string& name) {
    return std::ranges::any_of(one.writes, [&](const std::string& allowed) {
      return name == allowed || (allowed.ends_with('/') && name.starts_with(allowed));
    });
  };
  for (const auto& [name, bytes] : before) {
    if (may_be_written(name)) continue;
    const auto found = after.find(name);
    ASSERT_NE(found, after.end()) << name << " is gone";
    EXPECT_TRUE(found->second == bytes) << name << " has changed";
  }
  for (const auto& [name, bytes] : after) {
    EXPECT_TRUE(before.contains(name) || may_be_written(name)) << name << " is new";
    EXPECT_THAT(name, Not(HasSubstr(".sextant-"))) << "a temporary file is left";
  }
}

void expect_readable(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
      continue;
    }
    EXPECT_TRUE(static_cast<unsigned char>(c) >= ' ' && c != '\x7f')
        << "control character " << static_cast<int>(c) << " in " << lines.back();
    lines.back() += c;
  }
  EXPECT_LE(lines.size(), 7U) << text.substr(0, 2000);
  constexpr std::size_t kLongest = 1200;
  for (const std::string& line : lines) EXPECT_LE(line.size(), kLongest) << line.substr(0, 200);
}

class Hostile : public ::testing::TestWithParam<std::string> {};

TEST_P(Hostile, InputDoesNoHarm) {
  const Case one = read_case(sextant::tests::data_folder() + "/hostile/" + GetParam() + ".case");
  const Folder folder;
  for (const std::string& name : one.needs) provide(name, folder);
  const std::string enter = "cd '" + folder.path().string() + "' || exit 99\n";
  if (!one.make.empty()) {
    const Outcome made = shell(enter + "set -e\n" + one.make);
    ASSERT_EQ(made.code, 0) << made.err;
  }
  const auto before = files_in(folder.path());
  const Folder aside;
  std::string script = "sextant() { \"" + sextant::tests::program() + "\" \"$@\"; }\n" + enter;
#ifdef SEXTANT_SANITIZED  // up to eleven times as slow, with a shadow of terabytes of addresses
  const auto seconds = 12 * one.seconds;
#else
  const auto seconds = one.seconds;
  script += "ulimit -v " + std::to_string(one.memory * 1024) + " || exit 98\n";
#endif
  put(aside / "script", script + "export OMP_NUM_THREADS=2 MALLOC_ARENA_MAX=2\n" + one.run + "\n");
  const Outcome outcome = shell("ulimit -c 0; timeout -k 1 " + std::to_string(seconds) +
                                " bash -o pipefail " + (aside / "script"));
  constexpr int kTimeout = 124;
  ASSERT_NE(outcome.code, kTimeout) << "still runs after " << seconds << " seconds";
  EXPECT_EQ(outcome.code, one.code) << outcome.err.substr(0, 2000);
  if (outcome.code != 0) {
    EXPECT_THAT(outcome.err, StartsWith("sextant: "));
  }
  expect_readable(outcome.err);
  for (const std::string& words : one.says) EXPECT_THAT(outcome.err, HasSubstr(words));
  for (const std::string& words : one.silent) {
    EXPECT_THAT((std::vector{outcome.out, outcome.err}), Each(Not(HasSubstr(words))));
  }
  expect_untouched(one, before, files_in(folder.path()));
}

INSTANTIATE_TEST_SUITE_P(Cases, Hostile, ::testing::ValuesIn(all_cases()), [](const auto& one) {
  std::string name = one.param;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace sextant::app_tests
