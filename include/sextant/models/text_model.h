// Combines models with the tokenizer of their text, to read and write text and to save both.
#pragma once

#include <optional>
#include <string>

#include "sextant/models/language_model.h"
#include "sextant/models/model_folder.h"
#include "sextant/models/translator.h"
#include "sextant/text/tokenizer.h"

namespace sextant {

// A model with its tokenizer. It can be used like the model.
template <class Model>
struct WithTokenizer : Model {
  Tokenizer tokenizer;

  // Makes a Model with the vocabulary that the tokenizer needs.
  WithTokenizer(TransformerConfig config, Tokenizer tokenizer,
                std::optional<UnsetWeights> unset = {});

  // Writes config.json, the tokenizer's files and model.safetensors into a folder, which is made if
  // needed; each file as write_file() does.
  void save(const std::string& folder) const;

  // Loads the model with its weights from a folder that open_model_folder() accepts. It takes only
  // the memory of the weights: each tensor is read once, into its place. Throws Error as that does,
  // for weights that do not match their checksum, for another kind of model, for a file smaller
  // than config.json requires (before memory is taken for it), for weights that are not finite, and
  // as load_parameters(). The model has no positions if the folder says so.
  static WithTokenizer load(const std::string& folder) { return load(open_model_folder(folder)); }
  static WithTokenizer load(const ModelFolder& folder);
};

using TextModel = WithTokenizer<LanguageModel<float>>;
using TextTranslator = WithTokenizer<Translator<float>>;

}  // namespace sextant
