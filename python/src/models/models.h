// Trained models as Python's objects.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "arguments.h"
#include "sextant/models/logit_lens.h"
#include "sextant/models/text_model.h"
#include "sextant/models/translate_lines.h"

namespace sextant::python {

struct PyTextModel {
  std::shared_ptr<const TextModel> model;
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

// What Python's LogitLens are made of.
nb::dict dict_of(const LogitLens& found, const Tokenizer& tokenizer);

}  // namespace sextant::python
