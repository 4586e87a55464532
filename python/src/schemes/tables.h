// Holds the results of schemes for Python: tables of rotations and of biases, generators, terms.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "schemes/scheme_request.h"
#include "sextant/tables/distance_bias.h"
#include "sextant/tables/rotation_table.h"
#include "sextant/tables/score_term.h"
#include "tables/rounded_rotation.h"

namespace nb = nanobind;

namespace sextant::python {

template <class T>
using SharedRotation = std::shared_ptr<const RotationTable<T>>;

struct PyRotation {
  std::variant<SharedRotation<float>, SharedRotation<double>, SharedRotation<float16>,
               SharedRotation<bfloat16>>
      table;
};
struct PyDistanceBias {
  DistanceBias bias;
};
// The arguments from which a scheme made a term, to make it again.
struct TermRecipe {
  std::string scheme;
  Positions rows;  // of a range no ids
  std::int64_t heads = 1, head_dim = 0;
  std::map<std::string, std::string> parameters;
  SchemeWeights weights;
};
struct PyScoreTerm {
  std::shared_ptr<const ScoreTerm> term;
  std::int64_t heads = 1, length = 0;          // for which it was made
  std::shared_ptr<const TermRecipe> recipe{};  // of a scheme's
  nb::object reduced{};                        // for others, the result of __reduce__()
};
// All numbers for the length of a term, [heads, length, length].
nb::object all_numbers(const PyScoreTerm& self);

// Adds arrays, equality, copies and pickles to these.
void add_object_of(nb::class_<PyRotation>& type);
void add_object_of(nb::class_<PyDistanceBias>& type);
void add_object_of(nb::class_<PyScoreTerm>& type);

// The T that an object of Python holds; null for another object, None too.
template <class T>
T* held(nb::handle value) {
  T* found = nullptr;
  return nb::try_cast(value, found) ? found : nullptr;
}

// A notebook shows it as plot.heatmap() draws it, or as its text where `draws` says no.
template <class T>
void show_as_heatmap(
    nb::class_<T>& type, bool (*draws)(const T&) = [](const T&) { return true; }) {
  const auto shown = [draws](nb::handle self, const char* form) -> nb::object {
    if (!draws(nb::cast<const T&>(self))) return nb::none();
    return nb::module_::import_("sextant.plot").attr("heatmap")(self).attr(form)();
  };
  type.def(
          "_repr_svg_", [shown](nb::handle self) { return shown(self, "_repr_svg_"); },
          nb::sig("def _repr_svg_(self) -> str | None"))
      .def(
          "_repr_html_", [shown](nb::handle self) { return shown(self, "_repr_html_"); },
          nb::sig("def _repr_html_(self) -> str | None"));
}

// Cosines, sines and the keys' table rounded to T.
template <class T>
SharedRotation<T> rounded(const RotationTable<double>& table) {
  return std::make_shared<const RotationTable<T>>(rounded_rotation<T>(table));
}

// What a bias with a table adds to the scores, [heads or 1, distances]: values less slopes times
// distances.
Tensor<double> added_numbers(const DistanceBias& bias);

}  // namespace sextant::python
