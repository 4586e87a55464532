// Models as folders.
#include "sextant/models/model_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "models/checksums.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "sextant/core/safetensors.h"

namespace sextant {
namespace {

std::string config_path(const std::string& folder) { return folder + "/config.json"; }

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The numbers that the scheme learns, at least.
double numbers_of_scheme(const TransformerConfig& c) {
  const Scheme& scheme = find_scheme(c.scheme);
  if (scheme.weight_sizes == nullptr || scheme.kind == SchemeKind::rotated) return 0;
  const std::int64_t ends[] = {0, c.length - 1};  // what sizes depend on, of all ids
  SchemeRequest request;
  request.width = c.width;
  request.heads = c.heads;
  request.head_dim = c.width / c.heads;
  request.positions = ends;
  request.parameters = c.scheme_parameters;
  double numbers = 0;
  for (const auto& [name, sizes] : scheme.weight_sizes(request)) {
    double product = 1;
    for (const std::int64_t size : sizes) {
      product *= static_cast<double>(size == kAnySize ? c.length : size);
    }
    numbers += product;
  }
  return numbers;
}

// A config of a few bytes may claim any size: before memory is asked for, the weights have to be
// there. Every model has an embedding, and every layer its attention and feed-forward maps.
void check_size(const ModelFolder& folder) {
  const TransformerConfig& c = folder.config;
  const double width = static_cast<double>(c.width);
  const double hidden = c.ffn_width > 0 ? static_cast<double>(c.ffn_width) : 4 * width;
  double layers = static_cast<double>(c.layers);
  if (c.kind == ModelKind::translator) {
    layers += static_cast<double>(c.encoder_layers > 0 ? c.encoder_layers : c.layers);
  }
  const double numbers = static_cast<double>(c.vocabulary) * width +
                         layers * 2 * width * (width + hidden) + numbers_of_scheme(c);
  constexpr double kLeastBytes = 2;  // of a number
  const std::string path = folder.path + "/model.safetensors";
  std::error_code problem;
  const auto bytes = std::filesystem::file_size(path, problem);
  if (problem) throw Error(path, "cannot be read: " + problem.message());
  if (static_cast<double>(bytes) >= kLeastBytes * numbers) return;
  throw Error(path, "must hold the " + shortest(numbers) +
                        " or more numbers, as config.json requires, got " + std::to_string(bytes) +
                        " bytes");
}

template <class Model>
Model load(const ModelFolder& folder) {
  check_size(folder);
  Model model(folder.config);
  const std::string path = folder.path + "/model.safetensors";
  const Parameters<float> parameters = model.parameters();
  load_parameters(path, parameters);
  for (const auto& [name, tensor, decays] : parameters) {
    const auto finite = [](float x) { return std::isfinite(x); };
    if (!std::ranges::all_of(tensor->span(), finite)) {
      throw Error(path, "must hold finite numbers, got others in " + name);
    }
  }
  return model;
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
  check_checksums(path);
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

WordVectors learned_word_vectors(const ModelFolder& folder) {
  const std::string path = folder.path + "/model.safetensors";
  const SafetensorsFile file = load_safetensors(path);
  const auto found = file.tensors.find("embedding.weight");
  const Shape shape{folder.config.vocabulary, folder.config.width};
  if (found == file.tensors.end() || found->second.shape != shape) {
    throw Error(path, "must hold embedding.weight of shape " + shape.to_string());
  }
  const Tensor<float> table = found->second.to<float>();
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

LanguageModel<float> load_language_model(const ModelFolder& folder) {
  return load<LanguageModel<float>>(folder);
}

Translator<float> load_translator(const ModelFolder& folder) {
  return load<Translator<float>>(folder);
}

}  // namespace sextant
