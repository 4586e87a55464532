// Lists the schemes as data, from which signatures, help texts and schemes() are generated.
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "bindings.h"
#include "option_values.h"
#include "sextant/schemes/scheme.h"

namespace sextant::python {
namespace {

nb::dict as_dict(const SchemeWeight& weight) {
  nb::dict result;
  result["name"] = weight.name;
  result["shape"] = weight.shape;
  result["meaning"] = weight.meaning;
  return result;
}

nb::dict as_dict(const Scheme& scheme) {
  nb::dict result;
  result["name"] = scheme.name;
  result["title"] = scheme.title;
  result["kind"] = name_of(scheme.kind);
  result["idea"] = scheme.idea;
  result["paper"] = scheme.paper;
  nb::list parameters, weights;
  for (const Option& option : scheme.parameters()) parameters.append(described(option));
  for (const SchemeWeight& weight : scheme.weights) weights.append(as_dict(weight));
  result["parameters"] = parameters;
  result["weights"] = weights;
  return result;
}

}  // namespace

void bind_scheme_list(nb::module_& module) {
  module.def(
      "schemes",
      [] {
        nb::list list;
        for (const Scheme* scheme : schemes()) list.append(as_dict(*scheme));
        return list;
      },
      nb::sig("def schemes() -> list[dict[str, typing.Any]]"),
      "All schemes with their parameters and weights, as the registry has them.");
}

}  // namespace sextant::python
