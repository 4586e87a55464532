// `sextant average`: one model from several.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "sextant/core/error.h"
#include "sextant/models/average.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

struct Average {
  std::vector<std::string> models;
  std::string folder;
};

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial-";

// Whether `name` is "NAME.partial-PID" of a process that is no more, or of this one.
bool is_left_over(const std::string& name, const std::string& start) {
  constexpr std::size_t kMostDigits = 9;
  if (!name.starts_with(start)) return false;
  const std::string digits = name.substr(start.size());
  if (digits.empty() || digits.size() > kMostDigits ||
      !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) {
    return false;
  }
  const auto process = static_cast<pid_t>(std::stol(digits));
  return process == ::getpid() || (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH);
}

// What was begun for `folder` and killed.
void remove_left_overs(const fs::path& folder) {
  const std::string start = folder.filename().string() + std::string(kPartial);
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  std::vector<fs::path> found;
  std::error_code problem;
  fs::directory_iterator entry(parent, problem);
  for (; !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
    if (is_left_over(entry->path().filename().string(), start)) found.push_back(entry->path());
  }
  for (const fs::path& left : found) fs::remove_all(left, problem);
}

void run(const Average& average) {
  std::vector<ModelFolder> models;
  for (const std::string& folder : average.models) models.push_back(open_model_folder(folder));
  fs::path folder = fs::path(average.folder).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "runs/both/"
  std::error_code problem;
  if (fs::exists(folder, problem)) {
    throw Error(folder.string(), "must be a folder that does not exist yet");
  }
  // Beside it first, under a name of this process: a folder of its own name is a whole model.
  remove_left_overs(folder);
  const std::string beside = folder.string() + std::string(kPartial) + std::to_string(::getpid());
  fs::create_directories(beside, problem);
  if (problem) throw Error(beside, "cannot be made: " + problem.message());
  try {
    save_average(models, beside);
    fs::rename(beside, folder, problem);
    if (problem) throw Error(folder.string(), "cannot be made: " + problem.message());
  } catch (...) {
    fs::remove_all(beside, problem);
    throw;
  }
  note("wrote " + average.folder + ", the mean of " + std::to_string(models.size()) + " models");
}

}  // namespace

void add_average(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "average",
      "average the weights of several models\n"
      "Writes a model whose weights are the mean of several models' weights. The mean can be "
      "better than each model if all were trained on from one model (`sextant train --from`) with "
      "different data or seeds, at the cost of one. For models trained from scratch it is "
      "useless.");
  auto average = std::make_shared<Average>();
  command
      .add_option(
          "--model", average->models,
          "the folder of a model, or of a training run, whose best model is used; two or more")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->required();
  command.add_option("-o,--output", average->folder, "the new model's folder")
      ->type_name("DIR")
      ->required();
  command.footer(
      "Examples:\n"
      "  sextant average --model runs/a/last --model runs/b/last -o runs/both");
  command.callback([average, &job] {
    if (average->models.size() < 2) {
      throw Error("average.model", "must be given twice or more, got it once");
    }
    job = [average] { run(*average); };
  });
}

}  // namespace sextant::app
