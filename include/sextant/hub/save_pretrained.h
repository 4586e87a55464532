// Writes a model as a Hugging Face folder, which transformers opens.
#pragma once

#include <string>
#include <vector>

#include "sextant/core/dtype.h"
#include "sextant/models/language_model.h"
#include "sextant/models/text_model.h"

namespace sextant {

// Returns the model types for which a config.json can be written: bert, bloom, gpt2, gpt_neox,
// llama, mistral, mpt, opt, qwen2, qwen3.
std::vector<std::string> written_model_types();

struct PretrainedForm {
  // One of written_model_types(). Empty: the first that supports the whole model.
  std::string model_type;
  // A folder of the hub, of any readable model type, whose config.json is used instead: the folder
  // of the model from which this one was trained further. Empty: none.
  std::string like;
  DType dtype = DType::float32;  // type of the weights: float32, float16 or bfloat16, rounded once
};

struct SavedPretrained {
  std::string model_type;
  // Whether tokenizer.json was written. It is not written for words that are split by the rules of
  // a language, for sub-words that were learned here, and for qwen2 unless the tokens were qwen2's,
  // since transformers splits its texts as Qwen does.
  bool tokenizer = false;
};

// Writes config.json, model.safetensors and the tokenizer's files as a new folder, which gets its
// name when it is complete. The model computes the same: a factor of the embedding moves into its
// rows, with a separate matrix for the logits then, and sinusoidal positions, or none, become a
// table of config.length rows; each such number is rounded once.
//
// Takes the memory of the weights a second time, and a third time for another factor of the
// embedding. Throws an Error with save_pretrained.model and the keys that differ from the nearest
// type for a model that no model type, or not the requested one, supports; with the option for a
// model type that cannot be written, for both of the first two, and for another dtype; for a folder
// that exists; and as load_pretrained() if `like` is no folder of the hub. Then it writes nothing.
SavedPretrained save_pretrained(const TextModel& model, const std::string& folder,
                                const PretrainedForm& form = {});
// Saves a model without a tokenizer.
SavedPretrained save_pretrained(const LanguageModel<float>& model, const std::string& folder,
                                const PretrainedForm& form = {});

}  // namespace sextant
