// Runs the real command line, as a shell would, and keeps all that came of it.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "core/json/json.h"
#include "support/folders.h"

namespace sextant::app_tests {

// A folder of its own for one test, gone afterwards.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sextant-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The width of an SVG, in CSS pixels.
inline double width_of(const std::string& svg) {
  return std::stod(svg.substr(svg.find("width=\"") + 7));
}

inline void put(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
  Json json() const { return Json::parse(out); }
};

// `line` is shell text in which "sextant" as the first word of a command is the program under test.
inline Outcome shell(const std::string& line) {
  const Folder folder;
  const std::string script =
      "sextant() { \"" + sextant::tests::program() + "\" \"$@\"; }\n" + line + "\n";
  put(folder / "script", script);
  const std::string command = "/bin/bash -o pipefail " + folder / "script" + " >" + folder / "out" +
                              " 2>" + folder / "err" + " </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder / "out"),
          contents(folder / "err")};
}

inline Outcome sextant(const std::string& arguments) { return shell("sextant " + arguments); }

// The commands that the program's help lists.
inline std::vector<std::string> command_names() {
  std::string help = sextant("--help").out;
  help.resize(std::min(help.find("\n\n`sextant"), help.size()));  // without the examples
  const std::regex line("\n  ([a-z][a-z-]*)  ");
  std::vector<std::string> names;
  for (std::sregex_iterator at(help.begin(), help.end(), line), end; at != end; ++at) {
    names.push_back((*at)[1]);
  }
  return names;
}

// Rows of comma-separated numbers.
inline std::vector<std::vector<double>> csv(const std::string& text) {
  std::vector<std::vector<double>> rows(1, std::vector<double>());
  const char* at = text.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    rows.back().push_back(std::strtod(at, &end));
    if (end == at) return {};
    if (*end == '\n' && end[1] != '\0') rows.emplace_back();
    at = *end == '\0' ? end : end + 1;
  }
  return rows;
}

}  // namespace sextant::app_tests
