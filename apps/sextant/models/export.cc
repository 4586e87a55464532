// `sextant export`: a model as a folder that transformers opens.
#include <memory>
#include <string>
#include <utility>

#include "commands.h"
#include "core/text/strings.h"
#include "models/image_option.h"
#include "models/model_option.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/hub/save_pretrained.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

struct Export {
  ModelOption model;
  std::string folder, dtype = "float32";
  PretrainedForm form;
};

void export_images(const Export& command) {
  for (const auto& [name, given] :
       {std::pair{"model-type", command.form.model_type}, std::pair{"like", command.form.like}}) {
    if (given.empty()) continue;
    throw Error(std::string("export.") + name, "must not be given for a model of images");
  }
  const ImageModel model = open_image_model(command.model, "export.model");
  save_image_model(model, command.folder, parse_dtype(command.dtype));
  note("wrote " + command.folder + ", a model of images; preprocessor_config.json is not written");
}

void run(const Export& command) {
  if (command.model.is_of_images()) return export_images(command);
  const ModelFolder folder = command.model.open({ModelKind::causal, ModelKind::masked});
  PretrainedForm form = command.form;
  form.dtype = parse_dtype(command.dtype);
  const SavedPretrained saved = save_pretrained(TextModel::load(folder), command.folder, form);
  note("wrote " + command.folder + ", of model type " + saved.model_type);
  if (!saved.tokenizer) {
    note("without tokenizer.json: " + std::string(name_of(folder.tokenizer.kind())) +
         " tokens of this library have no form that transformers reads there");
  }
}

}  // namespace

void add_export(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "export",
      "save a model as a Hugging Face folder\n"
      "Writes config.json, model.safetensors and tokenizer.json as transformers reads them. The "
      "model type is the first that has all parts of the model; if none has, the error names the "
      "parts that the nearest one lacks. Words that are split at punctuation, and sub-words "
      "learned by `sextant train`, have no tokenizer.json. A model of images keeps its model "
      "type.");
  auto given = std::make_shared<Export>();
  given->model.add_folder(command)->required();
  command
      .add_option("--model-type", given->form.model_type,
                  joined(written_model_types(), " | ") + " (default: the first that fits)")
      ->type_name("NAME")
      ->check(one_of("export.model-type", written_model_types()));
  input_file(command.add_option("--like", given->form.like,
                                "the Hugging Face folder of the model that was fine-tuned: its "
                                "config.json is used, of any supported type"),
             "DIR")
      ->excludes("--model-type");
  command
      .add_option("--dtype", given->dtype,
                  "float32 | bfloat16 | float16: type of the weights (default float32)")
      ->type_name("T")
      ->check(one_of("export.dtype", {"float32", "bfloat16", "float16"}));
  output_file(command.add_option("-o,--output", given->folder, "the new folder"), "DIR")
      ->required();
  command.footer(
      "Examples:\n"
      "  sextant export --model runs/plays -o plays-hf\n"
      "  sextant export --model runs/tuned --like gpt2 --dtype bfloat16 -o tuned-hf");
  command.callback([given, &job] { job = [given] { run(*given); }; });
}

}  // namespace sextant::app
