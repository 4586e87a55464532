// Models as folders: config.json, model.safetensors and the tokenizer's files.
#pragma once

#include <string>

#include "sextant/models/language_model.h"
#include "sextant/models/transformer_config.h"
#include "sextant/models/translator.h"
#include "sextant/text/tokenizer.h"
#include "sextant/text/word_vectors.h"

namespace sextant {

// The contents of a folder besides the weights.
struct ModelFolder {
  std::string path;  // where model.safetensors is
  TransformerConfig config;
  Tokenizer tokenizer;
};

// Writes all files of a model into a folder that exists; each file as write_file() does.
void save_model_folder(const std::string& folder, const TransformerConfig& config,
                       const Tokenizer& tokenizer, const Parameters<float>& parameters);

// Reads config.json and the tokenizer, and compares the files with their checksums where
// training.json has some (checkpoints do; averages and folders put together by hand do not).
// `folder` may be that of a training run, whose best model is used, or its last one if there is no
// best. Throws Error that names the file if it is missing, damaged or does not match the others.
ModelFolder open_model_folder(const std::string& folder);

// The model with its weights. Throws Error for another kind of model, for a file smaller than
// config.json asks for, before memory is taken for it, for weights that are not finite, and as
// load_parameters().
LanguageModel<float> load_language_model(const ModelFolder& folder);
Translator<float> load_translator(const ModelFolder& folder);

// A model's word vectors: the rows of its embedding whose token is a whole word. For sub-words
// these are the pieces that begin with a space, as words without it; for characters, all visible
// ones. Throws Error when there are none.
WordVectors learned_word_vectors(const ModelFolder& folder);

// How many tokens a model's vocabulary has for a tokenizer: a masked model has one more, which
// stands for what is hidden.
std::int64_t vocabulary_for(ModelKind kind, const Tokenizer& tokenizer) noexcept;

}  // namespace sextant
