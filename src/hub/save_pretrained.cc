// Writes a model into a folder: the config first, then its weights.
#include "sextant/hub/save_pretrained.h"

#include <optional>
#include <utility>

#include "core/files/new_folder.h"
#include "hub/equivalent.h"
#include "hub/written_config.h"
#include "hub/written_weights.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

constexpr std::string_view kModel = "save_pretrained.model";
// transformers 5 splits texts of this model type by its own rules, regardless of tokenizer.json.
constexpr std::string_view kOwnTokenizer = "qwen2";

hub::WrittenConfig config_of(const TransformerConfig& config, const PretrainedForm& form) {
  const std::string where(kModel);
  if (form.like.empty()) return hub::write_config(config, form.model_type, where);
  if (!form.model_type.empty()) {
    throw Error("save_pretrained.model_type", "must not be given together with like");
  }
  const std::string path = form.like + "/config.json";
  return hub::match_config(config, read_file(path, 1 << 24), path, where);
}

SavedPretrained save(const LanguageModel<float>& model, const Tokenizer* tokenizer,
                     const std::string& folder, const PretrainedForm& form) {
  hub::check_written_dtype("save_pretrained.dtype", form.dtype);
  const hub::WrittenConfig config = config_of(model.config, form);
  const Json json = Json::parse_object(config.text, "config.json");
  hub::WeightTable table(config.family->names);
  config.family->weights(hub::ConfigObject(json, "config.json"), config.config, table);
  const bool as_it_is = config.config.embedding_factor() == model.config.embedding_factor() &&
                        config.config.schemes == model.config.schemes;
  std::optional<LanguageModel<float>> other;
  if (!as_it_is) other = hub::equivalent(model, config.config);
  const LanguageModel<float>& same = other ? *other : model;
  auto tensors = table.written(same.parameters(), config.config.logits, std::string(kModel));
  other.reset();
  SavedPretrained saved{std::string(config.family->model_type)};
  make_new_folder(folder, [&](const std::string& path) {
    write_file(path + "/config.json", config.text);
    hub::save_weights(path + "/model.safetensors", std::move(tensors), form.dtype);
    if (tokenizer == nullptr) return;
    const std::optional<Tokenizer> published = tokenizer->as_pretrained();
    saved.tokenizer = published && (tokenizer->kind() == TokenizerKind::pretrained ||
                                    saved.model_type != kOwnTokenizer);
    if (saved.tokenizer) published->save(path);
  });
  return saved;
}

}  // namespace

std::vector<std::string> written_model_types() {
  std::vector<std::string> names;
  for (const hub::Family* each : hub::families()) {
    if (each->write != nullptr) names.emplace_back(each->model_type);
  }
  return names;
}

SavedPretrained save_pretrained(const TextModel& model, const std::string& folder,
                                const PretrainedForm& form) {
  return save(model, &model.tokenizer, folder, form);
}

SavedPretrained save_pretrained(const LanguageModel<float>& model, const std::string& folder,
                                const PretrainedForm& form) {
  return save(model, nullptr, folder, form);
}

}  // namespace sextant
