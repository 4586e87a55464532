// Models as folders.
#include "sextant/models/model_folder.h"

#include <filesystem>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

std::string config_path(const std::string& folder) { return folder + "/config.json"; }

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

std::int64_t vocabulary_for(ModelKind kind, const Tokenizer& tokenizer) noexcept {
  return tokenizer.size() + (kind == ModelKind::masked ? 1 : 0);
}

void save_model_folder(const std::string& folder, const TransformerConfig& config,
                       const Tokenizer& tokenizer, const Parameters<float>& parameters) {
  write_file(config_path(folder), format_config(config));
  tokenizer.save(folder);
  save_parameters(folder + "/model.safetensors", parameters);
}

ModelFolder open_model_folder(const std::string& folder) {
  std::string path = folder;
  for (const char* part : {"", "/best", "/last"}) {
    path = folder + part;
    if (exists(config_path(path))) break;
  }
  if (!exists(config_path(path))) {
    throw Error(folder, "must be a model's folder with config.json, or that of a training run");
  }
  ModelFolder result{path, parse_config(read_file(config_path(path), 1 << 24), config_path(path)),
                     Tokenizer::load(path)};
  const std::int64_t wanted = vocabulary_for(result.config.kind, result.tokenizer);
  if (result.config.vocabulary != wanted) {
    throw Error(config_path(path), "must have the tokenizer's vocabulary of " +
                                       std::to_string(wanted) + ", got " +
                                       std::to_string(result.config.vocabulary));
  }
  return result;
}

LanguageModel<float> load_language_model(const ModelFolder& folder) {
  LanguageModel<float> model(folder.config);
  load_parameters(folder.path + "/model.safetensors", model.parameters());
  return model;
}

Translator<float> load_translator(const ModelFolder& folder) {
  Translator<float> model(folder.config);
  load_parameters(folder.path + "/model.safetensors", model.parameters());
  return model;
}

}  // namespace sextant
