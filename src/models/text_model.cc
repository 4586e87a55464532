// Models and their tokenizers as folders.
#include "sextant/models/text_model.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <utility>

#include "models/checksums.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

// The numbers that a scheme learns, at least.
double weight_count(const SchemeSpec& given, const TransformerConfig& c) {
  const Scheme& scheme = find_scheme(given.scheme);
  if (scheme.weight_sizes == nullptr || scheme.kind == SchemeKind::rotated) return 0;
  const std::int64_t ends[] = {0, c.length - 1};  // the ids on which sizes depend
  double numbers = 0;
  for (const auto& [name, sizes] : scheme.weight_sizes(c.position_options().request(given, ends))) {
    double product = 1;
    for (const std::int64_t size : sizes) {
      product *= static_cast<double>(size == kAnySize ? c.length : size);
    }
    numbers += product;
  }
  return numbers;
}

// A config of a few bytes may claim any size: the weights must exist before memory is taken. Every
// model has an embedding, and every layer its attention and feed-forward maps.
void check_size(const ModelFolder& folder, const TensorFile& weights) {
  const TransformerConfig& c = folder.config;
  const double width = static_cast<double>(c.width);
  const double hidden = c.ffn_width > 0 ? static_cast<double>(c.ffn_width) : 4 * width;
  double layers = static_cast<double>(c.layers);
  if (c.kind == ModelKind::translator) {
    layers += static_cast<double>(c.encoder_layers > 0 ? c.encoder_layers : c.layers);
  }
  double numbers =
      static_cast<double>(c.vocabulary) * width +
      layers * 2 * width * (static_cast<double>(c.heads * c.attention_head_dim()) + hidden);
  if (c.logits_transform) numbers += width * width;
  for (const SchemeSpec& scheme : c.schemes) numbers += weight_count(scheme, c);
  for (const LayerSchemes& some : c.layer_schemes) {
    for (const SchemeSpec& scheme : some.schemes) numbers += weight_count(scheme, c);
  }
  constexpr double kLeastBytes = 2;  // of a number
  std::uint64_t bytes = 0;
  for (const StoredTensor& tensor : weights.tensors()) bytes += tensor.size();
  if (static_cast<double>(bytes) >= kLeastBytes * numbers) return;
  throw Error(weights.path(), "must hold the " + shortest(numbers) +
                                  " or more numbers, as config.json requires, got " +
                                  std::to_string(bytes) + " bytes");
}

TransformerConfig for_tokenizer(TransformerConfig config, const Tokenizer& tokenizer) {
  const std::int64_t least = vocabulary_for(config.kind, tokenizer);
  // Published models may have more rows than tokens.
  const bool is_published = tokenizer.kind() == TokenizerKind::pretrained;
  config.vocabulary = is_published ? std::max(config.vocabulary, least) : least;
  return config;
}

}  // namespace

template <class Model>
WithTokenizer<Model>::WithTokenizer(TransformerConfig transformer, Tokenizer given,
                                    std::optional<UnsetWeights> unset)
    : Model(for_tokenizer(std::move(transformer), given), unset), tokenizer(std::move(given)) {}

template <class Model>
void WithTokenizer<Model>::save(const std::string& folder) const {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw Error(folder, "cannot be made: " + problem.message());
  write_file(folder + "/config.json", format_config(this->config));
  tokenizer.save(folder);
  save_parameters(folder + "/model.safetensors", this->parameters());
}

template <class Model>
WithTokenizer<Model> WithTokenizer<Model>::load(const ModelFolder& folder) {
  const auto make = [&](UnsetWeights unset) {
    return WithTokenizer(folder.config, folder.tokenizer, unset);
  };
  if (folder.read_weights) {
    WithTokenizer model = make_filled(make, folder.read_weights, folder.dtype);
    if (!folder.other_schemes.empty()) {
      model.replace_schemes(folder.other_schemes, folder.replaced_layers);
    }
    return model;
  }
  const TensorFile weights = folder.open_weights();
  check_size(folder, weights);
  FileChecksums sums;
  WithTokenizer model = [&] {
    try {
      return make_loaded(weights, make, folder.weights.empty() ? &sums : nullptr, folder.dtype);
    } catch (const Error&) {  // of a file that may be damaged
      if (folder.weights.empty()) check_weights(folder.path);
      throw;
    }
  }();
  if (folder.weights.empty()) check_weights(folder.path, weights, sums);
  const std::string in_type =
      folder.dtype == WeightType::float32 ? "" : " in " + std::string(name_of(folder.dtype));
  for (const auto& [name, tensor, decays] : model.parameters()) {
    const auto finite = [](auto x) { return std::isfinite(static_cast<float>(x)); };
    if (tensor.with_tensor(
            [&](const auto& of) { return std::ranges::all_of(of.span(), finite); })) {
      continue;
    }
    throw Error(weights.files()[weights.at(name).file],
                "must hold finite numbers" + in_type + ", got others in " + name);
  }
  if (!folder.other_schemes.empty()) {
    model.replace_schemes(folder.other_schemes, folder.replaced_layers);
  }
  return model;
}

template struct WithTokenizer<LanguageModel<float>>;
template struct WithTokenizer<Translator<float>>;

}  // namespace sextant
