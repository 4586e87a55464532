// --model DIR, --dtype, --replace-scheme, --without-positions and --threads.
#include "models/model_option.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/text/strings.h"
#include "layers/weight_type_fields.h"
#include "models/generation_words.h"
#include "options/field_options.h"
#include "options/file_arguments.h"
#include "options/model_config_option.h"
#include "options/options.h"
#include "options/scheme_choice.h"
#include "options/scheme_text.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/hub/image_models.h"
#include "sextant/hub/load_pretrained.h"
#include "sextant/training/tasks/dates_translator.h"

namespace sextant::app {

CLI::Option* ModelOption::add_to(CLI::App& command, bool several) {
  add_threads(command, threads);
  auto* without = command.add_flag_callback(
      "--without-positions", [this] { other_schemes = {"none"}; },
      "remove the positions from the trained model");
  scheme_list(
      command.add_option_function<std::string>(
          "--replace-scheme",
          [this, where = command.get_name() + ".replace-scheme"](const std::string& text) {
            auto lists = parse_position_lists(text, where);
            if (lists.size() != 1) {
              throw Error(where, "must be one scheme, or several joined by +, got " + text);
            }
            other_schemes = std::move(lists.front());
            check_replacement(other_schemes, where);
          },
          "replace the positions of the trained model by these, such as rotary:base=500000, alibi "
          "or rotary+temperature; schemes without learned weights"),
      "NAME", scheme_names())
      ->excludes(without);
  command
      .add_option_function<std::string>(
          "--replace-in",
          [this, where = command.get_name() + ".replace-in"](const std::string& text) {
            replaced_layers = parse_int64_list(text, where, 1000);
            if (!replaced_layers.empty()) return;
            throw Error(where, "must be one layer or more, as 0,2..5");
          },
          "with --replace-scheme or --without-positions: only in these layers, from 0: 0,2..5 "
          "(default: all)")
      ->type_name("LAYERS");
  add_dtype(command);
  return add_folder(command, several);
}

void ModelOption::add_dtype(CLI::App& command) { add_fields(command, weights); }

CLI::Option* ModelOption::add_folder(CLI::App& command, bool several) {
  command_ = command.get_name();
  where_ = command_ + ".model";
  std::string text =
      "the folder of a model, of a training run (its best model is used) or of a Hugging Face "
      "model; 'shipped': the built-in translator, trained on " +
      std::string(kDatesTaught);
  if (several) text += "; repeat it for an ensemble";
  // Each option takes one value; otherwise the words after it would be folders too.
  auto* model =
      input_file(command.add_option("--model", folders, text), "DIR")->allow_extra_args(false);
  add_read_as(command, read_as)->needs(model);
  return model;
}

bool ModelOption::is_of_images() const {
  return folders.size() == 1 && !folders.front().empty() && is_image_model(folders.front());
}

ModelFolder ModelOption::open(std::initializer_list<ModelKind> kinds) const {
  if (folders.size() != 1) {
    throw Error(where_, "must be one folder here, got " + std::to_string(folders.size()));
  }
  return std::move(open_all(kinds).front());
}

std::vector<ModelFolder> ModelOption::open_all(std::initializer_list<ModelKind> kinds) const {
  const std::string allowed = joined(kinds, " or ", [](ModelKind kind) { return described(kind); });
  if (!replaced_layers.empty() && other_schemes.empty()) {
    throw Error(command_ + ".replace-in",
                "must be given with --replace-scheme or --without-positions");
  }
  std::vector<ModelFolder> all;
  for (const std::string& folder : folders) {
    if (folder.empty()) throw Error(where_, "must be a model's folder, got ''");
    std::error_code unknown;
    const bool ships = folder == "shipped" && !std::filesystem::exists(folder, unknown);
    all.push_back(ships ? dates_model() : open_model(folder, read_as));
    all.back().dtype = weights.dtype;
    all.back().other_schemes = other_schemes;
    all.back().replaced_layers = replaced_layers;
    const ModelKind kind = all.back().config.kind;
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
    throw Error(where_, "must be " + allowed + ", got " + described(kind) + " in " +
                            (ships ? "'shipped'" : all.back().path));
  }
  return all;
}

void add_search(CLI::App& command, BeamSearchOptions& search, const Wording& n_best) {
  std::vector<Wording> words = kSearchWords;
  words.push_back(n_best);
  add_fields(command, search, "", words);
}

}  // namespace sextant::app
