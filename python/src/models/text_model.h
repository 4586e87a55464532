// What TextModel binds, in several files.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "models/models.h"

namespace sextant::python {

// prompt: a str or several. Returns a str, a list of the samples or of the prompts' texts, or a
// list of the prompts' lists of samples; and a note on the end of a text or nothing.
nb::tuple generate_any(const PyTextModel& self, nb::handle given_prompt, const nb::dict& given,
                       const std::string& stop, nb::handle on_text);

// ids [tokens] or [batch, tokens], each row a sequence. Returns [tokens, vocabulary] or
// [batch, tokens, vocabulary].
nb::object logits(const PyTextModel& self, nb::handle ids, nb::handle types, nb::handle threads);

// ids [tokens]. Returns [layers + 1, tokens, width].
nb::object hidden_states(const PyTextModel& self, nb::handle ids, nb::handle types,
                         nb::handle threads);

// ids [tokens]; layers, heads and rows: lists, or none for all. Returns [layers, heads, rows,
// tokens].
nb::object attention_maps(const PyTextModel& self, nb::handle ids, nb::handle types,
                          nb::handle layers, nb::handle heads, nb::handle rows, nb::handle threads);

// Whether a token of a text does not see another: [heads, length, length], or where layers differ
// of each of `layers` (none: all).
nb::object hidden_pairs(const PyTextModel& self, std::int64_t length, nb::handle layers);

}  // namespace sextant::python
