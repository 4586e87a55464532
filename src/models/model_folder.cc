// Models as folders.
#include "sextant/models/model_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "models/checksums.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

std::string config_path(const std::string& folder) { return folder + "/config.json"; }

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

ModelFolder checked(ModelFolder folder) {
  const std::int64_t wanted = vocabulary_for(folder.config.kind, folder.tokenizer);
  if (folder.config.vocabulary == wanted) return folder;
  throw Error(config_path(folder.path), "must have the tokenizer's vocabulary of " +
                                            std::to_string(wanted) + ", got " +
                                            std::to_string(folder.config.vocabulary));
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
  return tokenizer.size() + (kind == ModelKind::masked ? 1 : 0);
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
  check_checksums(path);
  return checked({path, parse_config(read_file(config_path(path), 1 << 24), config_path(path)),
                  Tokenizer::load(path)});
}

ModelFolder parse_model_folder(std::string_view config, std::string_view tokenizer,
                               std::string_view weights, const std::string& name) {
  return checked({name, parse_config(config, config_path(name)),
                  Tokenizer::parse(tokenizer, {}, name + "/tokenizer.json"), weights});
}

WordVectors learned_word_vectors(const ModelFolder& folder) {
  if (folder.weights.empty()) check_weights(folder.path);
  const TensorFile file = folder.open_weights();
  const StoredTensor* found = file.find("embedding.weight");
  const Shape shape{folder.config.vocabulary, folder.config.width};
  if (found == nullptr || found->shape != shape) {
    throw Error(file.path(), "must hold embedding.weight of shape " + shape.to_string());
  }
  auto table = Tensor<float>::uninitialized(shape);
  file.read(*found, 0, table.span());
  const std::string space = "\u2581";
  const bool subwords = folder.tokenizer.kind() == TokenizerKind::subword;
  std::vector<std::string> words;
  std::vector<std::int64_t> rows;
  for (std::int64_t id = Tokenizer::unk() + 1; id < folder.tokenizer.size(); ++id) {
    std::string word = folder.tokenizer.piece(id);
    if (subwords && !word.starts_with(space)) continue;
    if (subwords) word.erase(0, space.size());
    if (word.find_first_not_of(" \t\r\n") == std::string::npos) continue;
    words.push_back(std::move(word));
    rows.push_back(id);
  }
  if (words.empty()) throw Error(folder.path, "must have tokens that are whole words");
  Tensor<float> vectors({static_cast<std::int64_t>(rows.size()), shape[1]});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(table.data() + rows[i] * shape[1], shape[1],
                vectors.data() + static_cast<std::int64_t>(i) * shape[1]);
  }
  return WordVectors(std::move(words), std::move(vectors));
}

}  // namespace sextant
