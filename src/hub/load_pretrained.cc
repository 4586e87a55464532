// From a folder to a model: the config first, then shapes, then memory.
#include "sextant/hub/load_pretrained.h"

#include <functional>
#include <memory>
#include <utility>

#include "core/files/exists.h"
#include "hub/families.h"
#include "hub/pretrained_folder.h"
#include "interop/config/models.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "text/files/marian_files.h"

namespace sextant {
namespace {

// Reads the part of generation_config.json that belongs to a model: the tokens around targets.
void read_generation(const std::string& folder, TransformerConfig& config) {
  const std::string path = folder + "/generation_config.json";
  if (!exists(path)) return;
  const Json json = Json::parse_object(read_file(path, 1 << 24), path);
  hub::read_target_ends(hub::ConfigObject(json, path), config);
}

// The contents of a folder, compared with its config, without the numbers.
struct Pretrained {
  TransformerConfig config;
  std::function<void(const Parameters<float>&)> read;
};

Pretrained open(const std::string& folder, std::string_view read_as) {  // of folder_of_files()
  const std::string path = folder + "/config.json";
  const std::string text = hub::read_config_file(folder);
  const Json json = interop::parse_config_json(text, path, read_as);
  if (json.contains("kind") && !json.contains("model_type")) {
    throw Error(path,
                "must be of a Hugging Face model, got one of this library, which load() and "
                "TextModel::load() open");
  }
  const hub::ConfigObject object(json, path);
  const hub::Family& family = hub::find_family(object);
  TransformerConfig config =
      family.config(object, interop::read_model_config(json, path, !read_as.empty()));
  if (config.kind == ModelKind::translator) read_generation(folder, config);
  hub::check_ranges(path, [&] { check_config(config); });
  hub::refuse_pickle(folder);
  const auto file = std::make_shared<const TensorFile>(TensorFile::open(folder));
  const auto table = std::make_shared<hub::WeightTable>(*file, family.names);
  if (family.settle != nullptr) family.settle(*table, config);
  family.weights(object, config, *table);
  table->check_rest();
  return {config, [file, table](const Parameters<float>& to) { table->read_into(to); }};
}

void check_kind(const std::string& folder, const TransformerConfig& config, bool translates) {
  if ((config.kind == ModelKind::translator) == translates) return;
  throw Error(folder + "/config.json",
              translates
                  ? "must be of an encoder and a decoder, got " + described(config.kind) +
                        ", which load_pretrained() reads"
                  : "must be of a language model, got an encoder and a decoder: open_model() "
                    "and load() read them with their tokenizer, load_pretrained_translator() "
                    "of C++ without");
}

bool is_published(const std::string& folder) {
  const std::string path = folder + "/config.json";
  return exists(path) && Json::parse_object(read_file(path, 1 << 24), path).contains("model_type");
}

}  // namespace

LanguageModel<float> load_pretrained(const std::string& given, std::string_view read_as,
                                     WeightType dtype) {
  const std::string folder = hub::folder_of_files(given);
  const Pretrained found = open(folder, read_as);
  check_kind(folder, found.config, false);
  return make_filled([&](UnsetWeights unset) { return LanguageModel<float>(found.config, unset); },
                     found.read, dtype);
}

Translator<float> load_pretrained_translator(const std::string& given, std::string_view read_as,
                                             WeightType dtype) {
  const std::string folder = hub::folder_of_files(given);
  const Pretrained found = open(folder, read_as);
  check_kind(folder, found.config, true);
  return make_filled([&](UnsetWeights unset) { return Translator<float>(found.config, unset); },
                     found.read, dtype);
}

ModelFolder open_model(const std::string& given, std::string_view read_as) {
  const std::string folder = hub::folder_of_files(given);
  if (!is_published(folder)) {
    if (!read_as.empty()) {
      throw Error(
          "model_config.read_as",
          "must be given for a Hugging Face folder alone, got one of this library in " + folder);
    }
    return open_model_folder(folder);
  }
  Pretrained found = open(folder, read_as);
  if (!exists(folder + "/tokenizer.json") && !text::has_marian_files(folder)) {
    throw Error(
        folder,
        "must have tokenizer.json (Marian's: source.spm and vocab.json): in Python, "
        "transformers.AutoTokenizer.from_pretrained("
        "folder).save_pretrained(folder) writes one; load_pretrained() of the library reads "
        "the model without it");
  }
  Tokenizer tokenizer = Tokenizer::load(folder);
  if (tokenizer.size() > found.config.vocabulary) {
    throw Error(folder + "/config.json",
                "must have a vocab_size of the tokenizer's " + std::to_string(tokenizer.size()) +
                    " tokens or more, got " + std::to_string(found.config.vocabulary));
  }
  ModelFolder result{folder, found.config, std::move(tokenizer)};
  result.read_weights = std::move(found.read);
  return result;
}

}  // namespace sextant
