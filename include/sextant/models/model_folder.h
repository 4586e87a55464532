// Reads models as folders: config.json, model.safetensors (or several files with an index) and the
// tokenizer's files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor_file.h"
#include "sextant/layers/parameters.h"
#include "sextant/models/transformer_config.h"
#include "sextant/text/tokenizer.h"
#include "sextant/text/word_vectors.h"

namespace sextant {

// The contents of a folder besides the weights, which text_model.h loads.
struct ModelFolder {
  std::string path;  // path of model.safetensors, or of model.safetensors.index.json
  TransformerConfig config;
  Tokenizer tokenizer;
  // The bytes of model.safetensors if they are in memory: borrowed. `path` is then a name.
  std::string_view weights = {};
  // Positions for the loaded model instead of its own (LanguageModel::replace_schemes()); empty:
  // its own.
  SchemeSpecs other_schemes = {};
  std::vector<std::int64_t> replaced_layers = {};  // layers with these positions; empty: all
  // For a model that is part of the library: what it was trained on, and so what it can answer.
  std::string taught = {};
  WeightType dtype = WeightType::float32;  // of the loaded model's matrices: 16 bits for inference
  // Sets a model's parameters if the weights are stored in another library's format: open_model()
  // of hub.h sets it, and has compared names and shapes with the config. Otherwise empty.
  std::function<void(const Parameters<float>&)> read_weights = {};

  // Throws Error as TensorFile::open(). If that fails and a file does not match its checksum, the
  // error is about the checksum.
  TensorFile open_weights() const;
};

// Reads config.json and the tokenizer, and compares the files with their checksums if training.json
// or checksums.json has some (checkpoints and averages do; hand-made folders do not); the weights
// are compared when they are read. `folder` may be that of a training run, whose best model is
// used, or its last one if there is no best. Throws an Error with the file if it is missing,
// damaged or does not match the others.
ModelFolder open_model_folder(const std::string& folder);

// Makes a folder from files in memory; errors show `name` as its path. Throws Error as
// open_model_folder(), and for sub-words, whose tokenizer has a second file. Borrows `weights`.
ModelFolder parse_model_folder(std::string_view config, std::string_view tokenizer,
                               std::string_view weights, const std::string& name);

// Returns a model's word vectors: the rows of its embedding whose token is a whole word. For
// sub-words these are the pieces that begin with a space, as words without it; for characters, all
// visible ones. Throws Error if there are none.
WordVectors learned_word_vectors(const ModelFolder& folder);

// Returns the size of a model's vocabulary for a tokenizer: a masked model has one more token for
// hidden ones, unless the tokenizer is of a published model.
std::int64_t vocabulary_for(ModelKind kind, const Tokenizer& tokenizer) noexcept;

}  // namespace sextant
