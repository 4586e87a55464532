// Translates messages of `sextant attention` into the names of the command line.
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "attention/attention_command.h"
#include "sextant/core/error.h"

namespace sextant::app {
namespace {

// The names of arguments in the operator and on the command line.
constexpr std::pair<std::string_view, std::string_view> kOptionNames[] = {
    {"query_offsets", "query-offsets"},
    {"query_positions", "query-positions"},
    {"key_positions", "key-positions"},
    {"key_lengths", "key-lengths"},
    {"window.left", "window"},
    {"window.right", "window"},
    {"slopes", "alibi"},
    {"rotation", "rotary-base"},
    {"algorithm", "ranks"},
    {"sharding", "divide"},
    {"wire_type", "wire-type"},
};

}  // namespace

Error as_option(const Error& error, bool scheme) {
  std::string where = error.where();
  const std::size_t prefix = where.starts_with("ranks.") ? std::string_view("ranks.").size() : 0;
  where.erase(0, prefix);
  const auto dot = where.find('.');
  constexpr std::string_view kFunctions[] = {"attention", "attention_plan", "attention_weights",
                                             "attention_backward", "plan"};
  if (std::find(std::begin(kFunctions), std::end(kFunctions), where.substr(0, dot)) ==
      std::end(kFunctions)) {
    return error;
  }
  std::string what = error.what();
  what.erase(0, prefix + where.size() + 3);  // "[where] "
  std::string option = where.substr(dot + 1);
  // The tables of a scheme have no separate options.
  constexpr std::string_view kTables[] = {"rotation", "bias", "indexed", "content"};
  if (scheme && std::find(std::begin(kTables), std::end(kTables), option) != std::end(kTables)) {
    return {"attention.scheme", what};
  }
  for (const auto& [argument, name] : kOptionNames) {
    if (option == argument) option = name;
    if (argument == "algorithm" || argument == "sharding") continue;  // words of sentences too
    const auto at = what.find(argument);
    if (at != std::string::npos) what.replace(at, argument.size(), "--" + std::string(name));
  }
  return {"attention." + option, what};
}

void check_folders(const AttentionCommand& command) {
  for (const auto& [name, path] : command.outputs) {
    if (path == "-") {
      if (!stdout_is_terminal()) continue;
      throw Error("attention." + name, "must be a file or a pipe for .npy, which is not text");
    }
    const auto folder = std::filesystem::path(path).parent_path();
    std::error_code unknown;
    if (std::filesystem::is_directory(path, unknown)) {
      throw Error(path, "must be a file, got a folder");
    }
    if (folder.empty() || std::filesystem::is_directory(folder, unknown)) continue;
    throw Error(path, "cannot be written: there is no folder " + folder.string());
  }
}

}  // namespace sextant::app
