// Trained models as Python's objects.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "sextant/hub/sentence_vectors.h"
#include "sextant/models/logit_lens.h"
#include "sextant/models/text_model.h"
#include "sextant/models/translate_lines.h"

namespace sextant::python {

// A language model, of text where it has a tokenizer.
struct PyTextModel {
  // `as_sentences`: how the folder says that texts become vectors.
  explicit PyTextModel(std::shared_ptr<const TextModel> of_text, SentenceOptions as_sentences = {})
      : model(of_text), sentences(as_sentences), text_(std::move(of_text)) {}
  explicit PyTextModel(std::shared_ptr<const LanguageModel<float>> of_ids)
      : model(std::move(of_ids)) {}

  // The same with its tokenizer. Throws Error naming the call where it has none.
  const TextModel& text(const char* call) const;
  bool has_tokenizer() const noexcept { return text_ != nullptr; }

  std::shared_ptr<const LanguageModel<float>> model;
  SentenceOptions sentences;

 private:
  std::shared_ptr<const TextModel> text_;
};

struct PyTranslator {
  std::shared_ptr<const LineTranslator> lines;  // of one model, or an ensemble

  const TextTranslator& first() const noexcept { return lines->first(); }
};

// The weights by name: read-only arrays of the model's own memory, which `owner` keeps.
nb::dict weights_of(const Parameters<const float>& parameters, nb::handle owner);

// The rows of several layers' maps as one array [layers, heads, rows, columns].
nb::object stacked(const std::vector<Tensor<float>>& layers);

// Whether a number is -infinity, as an array of bool of the same shape.
nb::object as_flags(const Tensor<double>& hidden);

// Returns the data of Python's LogitLens.
nb::dict dict_of(const LogitLens& found, const Tokenizer& tokenizer);

}  // namespace sextant::python
