// What schemes make, as Python holds it: tables of rotations and of biases, generators, terms.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>
#include <variant>

#include "sextant/tables/content_term.h"
#include "sextant/tables/distance_bias.h"
#include "sextant/tables/indexed_bias.h"
#include "sextant/tables/rotation_table.h"

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
struct PyIndexedBias {
  std::shared_ptr<const IndexedBias> bias;
  std::int64_t heads = 1, length = 0;  // for which it was made
};
struct PyContentTerm {
  std::shared_ptr<const ContentTerm> term;
};

// The T that an object of Python holds; null for another object, None too.
template <class T>
T* held(nb::handle value) {
  T* found = nullptr;
  return nb::try_cast(value, found) ? found : nullptr;
}

// A notebook shows it as plot.heatmap() draws it.
template <class T>
void show_as_heatmap(nb::class_<T>& type) {
  const auto shown = [](nb::handle self, const char* form) -> nb::object {
    return nb::module_::import_("sextant.plot").attr("heatmap")(self).attr(form)();
  };
  type.def(
          "_repr_svg_", [shown](nb::handle self) { return shown(self, "_repr_svg_"); },
          nb::sig("def _repr_svg_(self) -> str"))
      .def(
          "_repr_html_", [shown](nb::handle self) { return shown(self, "_repr_html_"); },
          nb::sig("def _repr_html_(self) -> str"));
}

// Cosines, sines and the keys' table rounded to T.
template <class T>
SharedRotation<T> rounded(const RotationTable<double>& table);

}  // namespace sextant::python
