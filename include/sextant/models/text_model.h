// Models with the tokenizer of their text: what reads and writes text, and what is saved.
#pragma once

#include <optional>
#include <string>

#include "sextant/models/language_model.h"
#include "sextant/models/model_folder.h"
#include "sextant/models/translator.h"
#include "sextant/text/tokenizer.h"

namespace sextant {

// A model and the tokenizer that makes its tokens. It is used wherever the model alone is.
template <class Model>
struct WithTokenizer : Model {
  Tokenizer tokenizer;

  // As Model, with the vocabulary that the tokenizer needs.
  WithTokenizer(TransformerConfig config, Tokenizer tokenizer,
                std::optional<UnsetWeights> unset = {});

  // Writes config.json, the tokenizer's files and model.safetensors into a folder, which is made if
  // needed; each file as write_file() does.
  void save(const std::string& folder) const;

  // The model with its weights, of a folder as open_model_folder() finds it. Takes the memory of
  // the weights and no more: each tensor is read once, into its place. Throws Error as that does,
  // for weights that are not what their checksum says, for another kind of model, for a file
  // smaller than config.json asks for, before memory is taken for it, for weights that are not
  // finite, and as load_parameters(). Without positions where the folder says so.
  static WithTokenizer load(const std::string& folder) { return load(open_model_folder(folder)); }
  static WithTokenizer load(const ModelFolder& folder);
};

using TextModel = WithTokenizer<LanguageModel<float>>;
using TextTranslator = WithTokenizer<Translator<float>>;

}  // namespace sextant
