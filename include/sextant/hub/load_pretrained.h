// Reads a Hugging Face model folder into a language model or a translator.
#pragma once

#include <string>
#include <string_view>

#include "sextant/models/language_model.h"
#include "sextant/models/model_folder.h"
#include "sextant/models/translator.h"

namespace sextant {

// Reads config.json and model.safetensors (or its shards with model.safetensors.index.json) of the
// model types that docs/pretrained.md lists: BERT and its kin, GPT-2, Llama, Qwen, Gemma, Phi and
// others. Takes the memory of the weights as float32 and no more: tensors of float16, bfloat16 and
// float64 are converted as they are read.
//
// Causal models give logits, masked ones where `architectures` says that the model has the head
// (BertForMaskedLM). Others give hidden_states() alone: poolers are not read, and all tokens are of
// type 0. So does a model without lm_head whose `architectures` says so (LlamaModel).
//
// Throws Error naming the file and the key or tensor for: another model type, a key of config.json
// that changes the result in a way that models here do not have, tensors that are missing, unknown,
// of another shape or not floating-point numbers (before memory is taken for the model), and
// numbers that are not finite. Pickled weights (pytorch_model.bin) are not read.
//
// `folder` may be one of the cache of huggingface_hub: a snapshot, whose links lead to blobs, or
// models--ORG--NAME, of which the snapshot of the main revision is read.
//
// `read_as`: a model type, as load_model_config() takes it: a folder of a type that is not known is
// read as one of this type, with all that is checked of those.
LanguageModel<float> load_pretrained(const std::string& folder, std::string_view read_as = {});

// The same of an encoder and a decoder: Marian, BART, mBART, Pegasus, T5. config.target_start and
// target_end are those of generation_config.json, or of config.json. Throws Error as
// load_pretrained().
Translator<float> load_pretrained_translator(const std::string& folder,
                                             std::string_view read_as = {});

// A model's folder, of this library or of the hub: what has "model_type" in its config.json is the
// hub's and needs tokenizer.json, any other is opened by open_model_folder(). TextModel::load() and
// all that take a ModelFolder read either. The weights are read by that; names and shapes are
// compared here. Throws Error as load_pretrained(), open_model_folder() and Tokenizer::load(), and
// for a tokenizer with more tokens than the model, and for `read_as` with a folder of this library.
ModelFolder open_model(const std::string& folder, std::string_view read_as = {});

}  // namespace sextant
