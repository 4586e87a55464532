// Writes a model as a Hugging Face folder, which transformers opens.
#pragma once

#include <string>
#include <vector>

#include "sextant/core/dtype.h"
#include "sextant/models/language_model.h"
#include "sextant/models/text_model.h"

namespace sextant {

// What a config.json is written for: bert, bloom, gpt2, gpt_neox, llama, mistral, mpt, opt, qwen2,
// qwen3.
std::vector<std::string> written_model_types();

struct PretrainedForm {
  // One of written_model_types(). Empty: the first that has all of the model.
  std::string model_type;
  // A folder of the hub whose config.json is taken instead, of any model type that is read: that of
  // the model that this one was trained further from. Empty: none.
  std::string like;
  DType dtype = DType::float32;  // of the weights: or float16, bfloat16, rounded once
};

struct SavedPretrained {
  std::string model_type;
  // Whether tokenizer.json was written: not of words that are split by the rules of a language, nor
  // of sub-words that were learned here, nor of other tokens that were for qwen2, since
  // transformers splits its texts as Qwen does.
  bool tokenizer = false;
};

// Writes config.json and model.safetensors, and the tokenizer's files, as a new folder, which has
// its name when it is whole. What it computes is the same: a factor of the embedding moves into its
// rows, with logits of a matrix of their own then, and sinusoidal positions, or none, become a
// table of config.length rows; each such number is rounded once.
//
// Takes the memory of the weights a second time, of another factor of the embedding a third time.
// Throws Error naming save_pretrained.model for a model that no model type, or not the one asked
// for, has, with the keys that differ from the nearest; naming the option for a model type that is
// not written, for both of the first two, and for another dtype; for a folder that exists; and as
// load_pretrained() where `like` is no folder of the hub. Nothing is written then.
SavedPretrained save_pretrained(const TextModel& model, const std::string& folder,
                                const PretrainedForm& form = {});
// Without a tokenizer.
SavedPretrained save_pretrained(const LanguageModel<float>& model, const std::string& folder,
                                const PretrainedForm& form = {});

}  // namespace sextant
