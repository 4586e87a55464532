// Binds the functions of a scheme besides its table: its weights and their gradients, its
// frequencies, and the lengths on which its rows depend.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "schemes/scheme_request.h"

namespace sextant::python {
namespace {

nb::dict as_arrays(SchemeWeights weights) {
  nb::dict arrays;
  for (auto& [name, values] : weights) arrays[name.c_str()] = to_python(std::move(values));
  return arrays;
}

[[noreturn]] void refuse(const Scheme& scheme, std::string_view why) {
  throw Error("scheme", std::string(why) + ", got " + std::string(scheme.name));
}

nb::dict initial_weights(const std::string& name, nb::handle positions, const nb::dict& sizes,
                         const nb::dict& parameters) {
  const Scheme& scheme = find_scheme(name);
  if (scheme.initial_weights == nullptr) return {};
  const Interruption interruption(&check_signals);
  const PyRequest asked(scheme, read_positions(scheme, positions, false), sizes, parameters,
                        nb::none());
  return as_arrays(scheme.initial_weights(asked.request));
}

nb::dict weight_gradients(const std::string& name, nb::handle positions, const nb::dict& sizes,
                          const nb::dict& parameters, nb::handle weights, nb::handle gradient) {
  const Scheme& scheme = find_scheme(name);
  if (scheme.backward == nullptr) refuse(scheme, "must be a scheme with weights");
  const PyRequest asked(scheme, read_positions(scheme, positions, false), sizes, parameters,
                        weights);
  const InputArray of_table({gradient, scheme.name, "gradient"});
  of_table.expect(DType::float64, "");
  auto gradients =
      unlocked([&] { return scheme.backward(asked.request, of_table.view<double>()); });
  return as_arrays(std::move(gradients));
}

nb::tuple frequencies(const std::string& name, nb::handle positions, const nb::dict& sizes,
                      const nb::dict& parameters) {
  const Scheme& scheme = find_scheme(name);
  if (scheme.frequencies == nullptr) refuse(scheme, "must be a rotation");
  const PyRequest asked(scheme, read_positions(scheme, positions, false), sizes, parameters,
                        nb::none());
  RotationFrequencies found = scheme.frequencies(asked.request);
  Tensor<double> inv_freq(Shape{static_cast<std::int64_t>(found.inv_freq.size())});
  std::ranges::copy(found.inv_freq, inv_freq.data());
  return nb::make_tuple(to_python(std::move(inv_freq)), found.attention_factor);
}

nb::object length_class(const std::string& name, const nb::dict& sizes, const nb::dict& parameters,
                        nb::handle length) {
  const Scheme& scheme = find_scheme(name);
  if (scheme.length_class == nullptr) return nb::none();
  const PyRequest asked(scheme, Positions{}, sizes, parameters, nb::none());
  const std::int64_t wanted = Argument{length, scheme.name, "length"}.integer();
  return nb::cast(scheme.length_class(asked.request, wanted));
}

}  // namespace

void bind_scheme_weights(nb::module_& module) {
  module.def("initial_weights", &initial_weights, nb::arg("name"), nb::arg("positions").none(),
             nb::arg("sizes"), nb::arg("parameters"),
             nb::sig("def initial_weights(name: str, positions: object, sizes: dict[str, "
                     "typing.Any], parameters: dict[str, typing.Any]) -> dict[str, typing.Any]"),
             "The weights of a scheme before training, float64 by name; {} where it has none.");
  module.def(
      "weight_gradients", &weight_gradients, nb::arg("name"), nb::arg("positions").none(),
      nb::arg("sizes"), nb::arg("parameters"), nb::arg("weights").none(),
      nb::arg("gradient").none(),
      nb::sig("def weight_gradients(name: str, positions: object, sizes: dict[str, typing.Any], "
              "parameters: dict[str, typing.Any], weights: object, gradient: object) -> dict[str, "
              "typing.Any]"),
      "A loss's gradients of the weights from that of the table, float64: [positions, width], "
      "[heads, distances], of the angles [heads, positions, pairs], or [1, n] as "
      "attention_backward() gives.");
  module.def("frequencies", &frequencies, nb::arg("name"), nb::arg("positions").none(),
             nb::arg("sizes"), nb::arg("parameters"),
             nb::sig("def frequencies(name: str, positions: object, sizes: dict[str, typing.Any], "
                     "parameters: dict[str, typing.Any]) -> tuple[typing.Any, float]"),
             "Radians per position of every pair of a rotation, and the factor of its table.");
  module.def("length_class", &length_class, nb::arg("name"), nb::arg("sizes"),
             nb::arg("parameters"), nb::arg("length").none(),
             nb::sig("def length_class(name: str, sizes: dict[str, typing.Any], parameters: "
                     "dict[str, typing.Any], length: object) -> int | None"),
             "Lengths of the same number have tables with the same rows; None: all lengths.");
}

}  // namespace sextant::python
