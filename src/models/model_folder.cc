// Models as folders.
#include "sextant/models/model_folder.h"

#include <algorithm>
#include <utility>

#include "core/files/exists.h"
#include "models/checksums.h"
#include "sextant/core/files.h"
#include "sextant/core/missing_file.h"

namespace sextant {
namespace {

std::string config_path(const std::string& folder) { return folder + "/config.json"; }

ModelFolder checked(ModelFolder folder) {
  const std::int64_t wanted = vocabulary_for(folder.config.kind, folder.tokenizer);
  const bool is_published = folder.tokenizer.kind() == TokenizerKind::pretrained;
  const std::int64_t got = folder.config.vocabulary;
  if (got == wanted || (is_published && got > wanted)) return folder;
  throw Error(config_path(folder.path),
              "must have the tokenizer's vocabulary of " + std::to_string(wanted) +
                  (is_published ? " or more" : "") + ", got " + std::to_string(got));
}

}  // namespace

TensorFile ModelFolder::open_weights() const {
  if (!weights.empty()) return TensorFile::parse(weights, path + "/model.safetensors");
  try {
    return TensorFile::open(path);
  } catch (const Error&) {
    check_weights(path);
    throw;
  }
}

std::int64_t vocabulary_for(ModelKind kind, const Tokenizer& tokenizer) noexcept {
  const bool adds_mask = kind == ModelKind::masked && tokenizer.kind() != TokenizerKind::pretrained;
  return tokenizer.size() + (adds_mask ? 1 : 0);
}

ModelFolder open_model_folder(const std::string& folder) {
  std::string path = folder;
  for (const char* part : {"", "/best", "/last"}) {
    path = folder + part;
    if (exists(config_path(path))) break;
  }
  if (!exists(config_path(path))) {
    const char* what = "must be a model's folder with config.json, or that of a training run";
    if (!exists(folder)) throw MissingFile(folder, what);
    throw Error(folder, what);
  }
  check_checksums(path);
  return checked({path, parse_config(read_file(config_path(path), 1 << 24), config_path(path)),
                  Tokenizer::load(path)});
}

ModelFolder parse_model_folder(std::string_view config, std::string_view tokenizer,
                               std::string_view weights, const std::string& name) {
  return checked({name, parse_config(config, config_path(name)),
                  Tokenizer::parse(tokenizer, {}, name + "/tokenizer.json"), weights});
}

}  // namespace sextant
