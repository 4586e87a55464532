// Finds the files of a model of the hub.
#include "hub/pretrained_folder.h"

#include "core/files/exists.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant::hub {

std::string folder_of_files(const std::string& folder) {
  const std::string revision = folder + "/refs/main";
  if (exists(folder + "/config.json") || !exists(revision)) return folder;
  const std::string name = read_file(revision, 100);
  const bool is_name = !name.empty() && name.find_first_not_of("0123456789abcdef") == name.npos;
  return is_name ? folder + "/snapshots/" + name : folder;
}

std::string read_config_file(const std::string& folder) {
  const std::string path = folder + "/config.json";
  if (!exists(path)) {
    throw Error(folder, "must be a Hugging Face model's folder, with config.json");
  }
  return read_file(path, 1 << 24);
}

void check_ranges(const std::string& path, const std::function<void()>& check) {
  try {
    check();
  } catch (const Error& error) {
    throw Error(path, std::string("must be of a model that can be held: ") + error.what());
  }
}

void refuse_pickle(const std::string& folder) {
  if (exists(folder + "/model.safetensors") || exists(folder + "/model.safetensors.index.json")) {
    return;
  }
  for (const char* name : {"/pytorch_model.bin", "/pytorch_model.bin.index.json"}) {
    if (!exists(folder + name)) continue;
    throw Error(folder + name,
                "must be model.safetensors: a pickle may run any code and is not read; in Python, "
                "transformers.AutoModelForCausalLM (bert: AutoModel, t5: AutoModelForSeq2SeqLM, "
                "vit: AutoModelForImageClassification)"
                ".from_pretrained(folder).save_pretrained(folder) writes one");
  }
  throw Error(folder, "must have model.safetensors or model.safetensors.index.json");
}

}  // namespace sextant::hub
