// `sextant average`: one model from several.
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "options/file_arguments.h"
#include "sextant/core/error.h"
#include "sextant/models/average.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

struct Average {
  std::vector<std::string> models;
  std::string folder;
};

void run(const Average& average) {
  std::vector<ModelFolder> models;
  for (const std::string& folder : average.models) models.push_back(open_model_folder(folder));
  save_average(models, average.folder);
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
  input_file(
      command.add_option(
          "--model", average->models,
          "the folder of a model or of a training run (its best model is used); two or more"),
      "DIR")
      ->allow_extra_args(false)
      ->required();
  output_file(command.add_option("-o,--output", average->folder, "the new model's folder"), "DIR")
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
