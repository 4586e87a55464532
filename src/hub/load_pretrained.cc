// From a folder to a model: the config first, then shapes, then memory.
#include "sextant/hub/load_pretrained.h"

#include <functional>
#include <memory>
#include <utility>

#include "core/files/exists.h"
#include "hub/families.h"
#include "interop/config/models.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "text/marian_files.h"

namespace sextant {
namespace {

// Returns the folder with the files: for a model in the cache of huggingface_hub,
// models--ORG--NAME, the snapshot of its main revision; any other folder itself.
std::string folder_of_files(const std::string& folder) {
  const std::string revision = folder + "/refs/main";
  if (exists(folder + "/config.json") || !exists(revision)) return folder;
  const std::string name = read_file(revision, 100);
  const bool is_name = !name.empty() && name.find_first_not_of("0123456789abcdef") == name.npos;
  return is_name ? folder + "/snapshots/" + name : folder;
}

// Throws for weights that only a program that trusts the file can read.
void refuse_pickle(const std::string& folder) {
  if (exists(folder + "/model.safetensors") || exists(folder + "/model.safetensors.index.json")) {
    return;
  }
  for (const char* name : {"/pytorch_model.bin", "/pytorch_model.bin.index.json"}) {
    if (!exists(folder + name)) continue;
    throw Error(folder + name,
                "must be model.safetensors: a pickle may run any code and is not read; in Python, "
                "transformers.AutoModelForCausalLM (bert: AutoModel, t5: AutoModelForSeq2SeqLM)"
                ".from_pretrained(folder).save_pretrained(folder) writes one");
  }
  throw Error(folder, "must have model.safetensors or model.safetensors.index.json");
}

void check_ranges(const TransformerConfig& config, const std::string& where) {
  try {
    check_config(config);
  } catch (const Error& error) {
    throw Error(where, std::string("must be of a model that can be held: ") + error.what());
  }
}

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
  if (!exists(path)) {
    throw Error(folder, "must be a Hugging Face model's folder, with config.json");
  }
  const std::string text = read_file(path, 1 << 24);
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
  check_ranges(config, path);
  refuse_pickle(folder);
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
  const std::string folder = folder_of_files(given);
  const Pretrained found = open(folder, read_as);
  check_kind(folder, found.config, false);
  return make_filled([&](UnsetWeights unset) { return LanguageModel<float>(found.config, unset); },
                     found.read, dtype);
}

Translator<float> load_pretrained_translator(const std::string& given, std::string_view read_as,
                                             WeightType dtype) {
  const std::string folder = folder_of_files(given);
  const Pretrained found = open(folder, read_as);
  check_kind(folder, found.config, true);
  return make_filled([&](UnsetWeights unset) { return Translator<float>(found.config, unset); },
                     found.read, dtype);
}

ModelFolder open_model(const std::string& given, std::string_view read_as) {
  const std::string folder = folder_of_files(given);
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
