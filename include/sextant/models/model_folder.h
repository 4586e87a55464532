// Models as folders: config.json, model.safetensors (or several files with an index) and the
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
  std::string path;  // where model.safetensors is, or model.safetensors.index.json
  TransformerConfig config;
  Tokenizer tokenizer;
  // The bytes of model.safetensors, where they are in memory: borrowed. `path` is a name then.
  std::string_view weights = {};
  // What loads the folder gives the model these positions instead of its own
  // (LanguageModel::replace_schemes()); empty: its own.
  SchemeSpecs other_schemes = {};
  std::vector<std::int64_t> replaced_layers = {};  // that have them; empty: all
  // Of a model that is part of the library: what it was taught, and so what it can answer.
  std::string taught = {};
  // Sets a model's parameters where the weights are stored in another library's way: open_model()
  // of hub.h sets it, and has compared names and shapes with the config. Otherwise empty.
  std::function<void(const Parameters<float>&)> read_weights = {};

  // Throws Error as TensorFile::open(), and where that fails for a file that is not what its
  // checksum says, for this.
  TensorFile open_weights() const;
};

// Reads config.json and the tokenizer, and compares the files with their checksums where
// training.json or checksums.json has some (checkpoints and averages do; folders put together by
// hand do not); the weights are compared when they are read.
// `folder` may be that of a training run, whose best model is used, or its last one if there is no
// best. Throws Error that names the file if it is missing, damaged or does not match the others.
ModelFolder open_model_folder(const std::string& folder);

// A folder's files that are in memory; `name` stands for its path. Throws Error as
// open_model_folder(), and for sub-words, whose tokenizer has a second file. Borrows `weights`.
ModelFolder parse_model_folder(std::string_view config, std::string_view tokenizer,
                               std::string_view weights, const std::string& name);

// A model's word vectors: the rows of its embedding whose token is a whole word. For sub-words
// these are the pieces that begin with a space, as words without it; for characters, all visible
// ones. Throws Error when there are none.
WordVectors learned_word_vectors(const ModelFolder& folder);

// How many tokens a model's vocabulary has for a tokenizer: a masked model has one more, which
// stands for what is hidden, unless the tokenizer is of a published model.
std::int64_t vocabulary_for(ModelKind kind, const Tokenizer& tokenizer) noexcept;

}  // namespace sextant
