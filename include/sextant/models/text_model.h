// Models with the tokenizer of their text: what reads and writes text, and what is saved.
#pragma once

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

  // First weights from config.seed; config.vocabulary is set to what the tokenizer needs. Throws
  // Error as Model.
  WithTokenizer(TransformerConfig config, Tokenizer tokenizer);

  // Writes config.json, the tokenizer's files and model.safetensors into a folder, which is made if
  // needed; each file as write_file() does.
  void save(const std::string& folder) const;

  // The model with its weights, of a folder as open_model_folder() finds it. Throws Error as it
  // does, for another kind of model, for a file smaller than config.json asks for, before memory is
  // taken for it, for weights that are not finite, and as load_parameters(). Without positions
  // where the folder says so.
  static WithTokenizer load(const std::string& folder) { return load(open_model_folder(folder)); }
  static WithTokenizer load(const ModelFolder& folder);
};

using TextModel = WithTokenizer<LanguageModel<float>>;
using TextTranslator = WithTokenizer<Translator<float>>;

}  // namespace sextant
