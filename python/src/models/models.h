// Trained models as Python's objects.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "sextant/hub/sentence_vectors.h"
#include "sextant/layers/first_weights.h"
#include "sextant/models/image_model.h"
#include "sextant/models/logit_lens.h"
#include "sextant/models/text_model.h"
#include "sextant/models/translate_lines.h"

namespace sextant::python {

// A language model, of text where it has a tokenizer.
struct PyTextModel {
  // `as_sentences`: how the folder says that texts become vectors.
  explicit PyTextModel(std::shared_ptr<TextModel> of_text, SentenceOptions as_sentences = {})
      : model(of_text), sentences(as_sentences), text_(std::move(of_text)) {}
  explicit PyTextModel(std::shared_ptr<LanguageModel<float>> of_ids) : model(std::move(of_ids)) {}

  // The same with its tokenizer. Throws Error naming the call where it has none.
  const TextModel& text(const char* call) const;
  bool has_tokenizer() const noexcept { return text_ != nullptr; }

  std::shared_ptr<LanguageModel<float>> model;  // its weights are Python's to change
  SentenceOptions sentences;

 private:
  std::shared_ptr<TextModel> text_;
};

struct PyTranslator {
  std::shared_ptr<LineTranslator> lines;  // of one model, or an ensemble

  TextTranslator& first() const noexcept { return lines->first(); }
};

// Returns a translator that is no ensemble. Throws Error naming the call otherwise.
TextTranslator& first_alone(const PyTranslator& translator, const std::string& call);

// Returns ids [tokens], at least one, each of a vocabulary of this size.
std::vector<std::int64_t> read_tokens(const Argument& ids, std::int64_t vocabulary);

// Returns sequences without targets of ids [tokens] or [batch, tokens], and their shape.
std::pair<TokenBatch, Shape> read_batch(const Argument& ids);

// Returns a list of tensors by name, as arrays of their own memory, which `owner` keeps.
nb::dict arrays_of(const Parameters<float>& parameters, nb::handle owner);

// Reads arrays by name, one for each parameter and of its shape, as float32. Errors have
// "scope.name[parameter]".
std::vector<Tensor<float>> read_arrays(const Argument& argument,
                                       const Parameters<float>& parameters);

inline WeightType type_of_matrices(const ImageModel& model) { return model.patches.weight.type(); }
template <class Model>
WeightType type_of_matrices(const Model& model) {
  return model.embedding.table().type();
}

// Returns a model with the same weights in memory of its own. `parts`: what its constructor takes
// besides the config.
template <class Model, class... Parts>
std::shared_ptr<Model> copied(const Model& model, const Parts&... parts) {
  return std::make_shared<Model>(
      make_filled([&](UnsetWeights unset) { return Model(model.config, parts..., unset); },
                  [&](const Parameters<float>& to) {
                    const auto from = model.parameters();
                    for (std::size_t i = 0; i < to.size(); ++i) {
                      copy_parameter(from[i], to[i]);
                    }
                  },
                  type_of_matrices(model)));
}

// The rows of several layers' maps as one array [layers, heads, rows, columns].
nb::object stacked(const std::vector<Tensor<float>>& layers);

// Whether a number is -infinity, as an array of bool of the same shape.
nb::object as_flags(const Tensor<double>& hidden);

// Returns the data of Python's LogitLens.
nb::dict dict_of(const LogitLens& found, const Tokenizer& tokenizer);

}  // namespace sextant::python
