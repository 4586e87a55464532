// Reads a Hugging Face model folder into a language model or a translator.
#pragma once

#include <string>
#include <string_view>

#include "sextant/models/language_model.h"
#include "sextant/models/model_folder.h"
#include "sextant/models/translator.h"

namespace sextant {

// Reads config.json and model.safetensors (or its shards with model.safetensors.index.json) of the
// model types that docs/pretrained.md lists: BERT and similar models, GPT-2, Llama, Qwen, Gemma,
// Phi and others. It takes only the memory of the weights as float32: tensors of float16, bfloat16
// and float64 are converted while they are read.
//
// Causal models give logits, masked ones only if `architectures` says that the model has the head
// (BertForMaskedLM). Others give only hidden_states(): poolers are not read. So does a model
// without lm_head whose `architectures` says so (LlamaModel).
//
// Throws an Error with the file and the key or tensor for: another model type, a key of config.json
// that changes the result in a way that models here do not support, tensors that are missing,
// unknown, of another shape or not floating-point numbers (before memory is taken for the model),
// and numbers that are not finite. Pickled weights (pytorch_model.bin) are not read.
//
// `folder` may be in the cache of huggingface_hub: a snapshot, whose links point to blobs, or
// models--ORG--NAME, of which the snapshot of the main revision is read.
//
// `read_as` is a model type, as load_model_config() takes it: a folder of an unknown type is read
// as one of this type, with all its checks.
//
// `dtype` is the type of the model's matrices: with 16 bits the model takes half the memory,
// computes with the rounded numbers, and cannot be trained or saved. Numbers that are not finite in
// it throw an Error.
LanguageModel<float> load_pretrained(const std::string& folder, std::string_view read_as = {},
                                     WeightType dtype = WeightType::float32);

// Reads an encoder and a decoder: Marian, BART, mBART, Pegasus, T5. config.target_start and
// target_end come from generation_config.json, or from config.json. Throws Error as
// load_pretrained().
Translator<float> load_pretrained_translator(const std::string& folder,
                                             std::string_view read_as = {},
                                             WeightType dtype = WeightType::float32);

// Opens a model's folder of this library or of the hub: a folder with "model_type" in its
// config.json is the hub's and needs tokenizer.json; open_model_folder() opens any other.
// TextModel::load() and all functions for a ModelFolder read either. They read the weights; this
// function compares names and shapes. Throws Error as load_pretrained(), open_model_folder() and
// Tokenizer::load(), for a tokenizer with more tokens than the model, and for `read_as` with a
// folder of this library.
ModelFolder open_model(const std::string& folder, std::string_view read_as = {});

}  // namespace sextant
