// `sextant average`: one model from several.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "console.h"
#include "sextant/core/error.h"
#include "sextant/models/average.h"

namespace sextant::app {
namespace {

struct Average {
  std::vector<std::string> models;
  std::string folder;
};

void run(const Average& average) {
  std::vector<ModelFolder> models;
  for (const std::string& folder : average.models) models.push_back(open_model_folder(folder));
  // Beside it first: a folder of the name is a whole model.
  const std::string beside = average.folder + ".partial";
  std::error_code problem;
  for (const std::string& folder : {average.folder, beside}) {
    if (std::filesystem::exists(folder, problem)) {
      throw Error(folder, "must be a folder that is not there yet");
    }
  }
  std::filesystem::create_directories(beside, problem);
  if (problem) throw Error(beside, "cannot be made: " + problem.message());
  try {
    save_average(models, beside);
    std::filesystem::rename(beside, average.folder, problem);
    if (problem) throw Error(average.folder, "cannot be made: " + problem.message());
  } catch (...) {
    std::filesystem::remove_all(beside, problem);
    throw;
  }
  note("wrote " + average.folder + ", the mean of " + std::to_string(models.size()) + " models");
}

}  // namespace

void add_average(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "average",
      "the mean of models' weights, as one model\n"
      "Of models that went on from one (`sextant train --from`) with other data or seeds the mean "
      "can be better than each, and costs what one does. Of models that began apart it is worth "
      "nothing.");
  auto average = std::make_shared<Average>();
  command
      .add_option("--model", average->models,
                  "a model's folder, or that of a training run: its best model then; two or more")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->required();
  command.add_option("-o,--output", average->folder, "the new model's folder")
      ->type_name("DIR")
      ->required();
  command.footer(
      "Examples:\n"
      "  sextant average --model runs/a/last --model runs/b/last -o runs/both");
  command.callback([average, &job] { job = [average] { run(*average); }; });
}

}  // namespace sextant::app
