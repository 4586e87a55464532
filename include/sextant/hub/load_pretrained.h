// Reads a Hugging Face model folder into a language model.
#pragma once

#include <string>

#include "sextant/models/language_model.h"

namespace sextant {

// Reads config.json and model.safetensors (or its shards with model.safetensors.index.json) of the
// model types that docs/pretrained.md lists: BERT and its kin, GPT-2, Llama, Qwen, Gemma, Phi and
// others. Takes the memory of the weights as float32 and no more: tensors of float16, bfloat16 and
// float64 are converted as they are read.
//
// Causal models give logits, masked ones where `architectures` says that the model has the head
// (BertForMaskedLM). Others give hidden_states() alone: poolers are not read, and all tokens are of
// type 0. So does a model without lm_head whose `architectures` says so (LlamaModel). generate()
// leaves out ids that only tokenizers of this library reserve, unless GenerateOptions::never is
// empty.
//
// Throws Error naming the file and the key or tensor for: another model type, a key of config.json
// that changes the result in a way that models here do not have, tensors that are missing, unknown,
// of another shape or not floating-point numbers (before memory is taken for the model), and
// numbers that are not finite. Pickled weights (pytorch_model.bin) are not read.
LanguageModel<float> load_pretrained(const std::string& folder);

}  // namespace sextant
