// Reads the files of sentence-transformers in a model's folder.
#include "core/files/exists.h"
#include "core/json/json.h"
#include "interop/config/object.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/printable.h"
#include "sextant/hub/sentence_vectors.h"

namespace sextant {
namespace {

using interop::ConfigObject;

void read_pooling(const std::string& folder, SentenceOptions& options) {
  struct Mode {
    const char* key;
    std::optional<Pooling> pooling;
  };
  constexpr Mode kModes[] = {
      {"pooling_mode_cls_token", Pooling::first}, {"pooling_mode_mean_tokens", Pooling::mean},
      {"pooling_mode_max_tokens", Pooling::max},  {"pooling_mode_lasttoken", Pooling::last},
      {"pooling_mode_mean_sqrt_len_tokens", {}},  {"pooling_mode_weightedmean_tokens", {}}};
  const std::string path = folder + "/config.json";
  const Json json = Json::parse_object(read_file(path, 1 << 24), path);
  const ConfigObject object(json, path);
  int chosen = 0;
  for (const auto& [key, pooling] : kModes) {
    if (!object.flag(key).value_or(false)) continue;
    if (!pooling) object.fail(key, "must be false: vectors here are of one of the other kinds");
    options.pooling = *pooling;
    ++chosen;
  }
  if (chosen != 1) {
    object.fail("pooling_mode_mean_tokens",
                "or one other kind must be true alone, got " + std::to_string(chosen) + " of them");
  }
}

// Reads the modules after the model itself, one after the other.
void read_modules(const std::string& folder, SentenceOptions& options) {
  const std::string path = folder + "/modules.json";
  const Json modules = Json::parse(read_file(path, 1 << 24), path);
  if (!modules.is_array()) throw Error(path, "must be a list of modules");
  options.normalize = false;
  int poolings = 0;
  for (const Json& each : modules) {
    if (!each.is_object()) throw Error(path, "must be a list of objects");
    const ConfigObject module(each, path);
    const std::string type = module.need(module.text("type"), "type");
    const std::string name = type.substr(type.rfind('.') + 1);
    const std::string place = module.text("path").value_or("");
    if (name == "Normalize") {
      options.normalize = true;
    } else if (name == "Pooling" && poolings++ == 0 && place.find("..") == std::string::npos &&
               !place.starts_with('/')) {
      read_pooling(folder + "/" + place, options);
    } else if (name != "Transformer" || !place.empty()) {
      module.fail("type", "must be Transformer, one Pooling and Normalize in the folder, got " +
                              printable_quote(type) + " in " + printable_quote(place));
    }
  }
  if (poolings == 0) throw Error(path, "must have a module Pooling");
}

}  // namespace

SentenceOptions find_sentence_options(const ModelFolder& folder) {
  SentenceOptions options;
  if (folder.config.kind == ModelKind::causal) options.pooling = Pooling::last;
  if (!exists(folder.path + "/modules.json")) return options;
  read_modules(folder.path, options);
  const std::string limits = folder.path + "/sentence_bert_config.json";
  if (exists(limits)) {
    const Json json = Json::parse_object(read_file(limits, 1 << 24), limits);
    const ConfigObject object(json, limits);
    options.max_tokens = object.integer("max_seq_length").value_or(0);
    options.lower_case = object.flag_or("do_lower_case", false);
  }
  const std::string prompts = folder.path + "/config_sentence_transformers.json";
  if (exists(prompts)) {
    const Json json = Json::parse_object(read_file(prompts, 1 << 24), prompts);
    const ConfigObject object(json, prompts);
    if (object.text("default_prompt_name")) {
      object.fail("default_prompt_name", "must be null: texts are read without a prompt");
    }
  }
  return options;
}

}  // namespace sextant
