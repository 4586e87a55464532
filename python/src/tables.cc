// Tables of rotations as Python's objects.
#include "tables.h"

#include <nanobind/stl/string.h>

#include <string>

#include "arrays.h"
#include "bindings.h"

namespace sextant::python {
namespace {

template <class T>
Tensor<T> rounded_numbers(const Tensor<double>& numbers) {
  Tensor<T> result = Tensor<T>::uninitialized(numbers.shape());
  for (std::int64_t i = 0; i < numbers.count(); ++i) {
    result.data()[i] = static_cast<T>(numbers.data()[i]);
  }
  return result;
}

template <class T>
SharedRotation<T> rotation_from(const InputArray& cos, const InputArray& sin, RotaryLayout layout,
                                std::int64_t first_channel, const nb::object& keys) {
  RotationTable<T> table{copy_of(cos.view<T>()), copy_of(sin.view<T>()), layout, first_channel, {}};
  if (!keys.is_none()) {
    const Argument argument{keys, "RotationTable", "keys"};
    const auto* of_keys = held<PyRotation>(keys);
    if (of_keys == nullptr) throw_type_error(argument, "a RotationTable");
    const auto* same = std::get_if<SharedRotation<T>>(&of_keys->table);
    if (same == nullptr) throw_type_error(argument, "a RotationTable of the same dtype");
    table.keys = *same;
  }
  return std::make_shared<const RotationTable<T>>(std::move(table));
}

PyRotation new_rotation(const nb::object& cos, const nb::object& sin, const nb::object& layout,
                        const nb::object& first_channel, const nb::object& keys) {
  const InputArray cosines({cos, "RotationTable", "cos"}), sines({sin, "RotationTable", "sin"});
  sines.expect(cosines.dtype(), " as cos");
  if (cosines.shape().rank() != 2) cosines.expect_rank(3, "[positions, pairs] or [heads, ...]");
  if (!(sines.shape() == cosines.shape())) {
    throw Error("RotationTable.sin", "must be of the shape of cos, " + cosines.shape().to_string() +
                                         ", got " + sines.shape().to_string());
  }
  const auto order = Argument{layout, "RotationTable", "layout"}.choice<RotaryLayout>();
  const auto first = Argument{first_channel, "RotationTable", "first_channel"}.integer();
  return with_float(cosines, [&](auto type) {
    using T = typename decltype(type)::type;
    return PyRotation{rotation_from<T>(cosines, sines, order, first, keys)};
  });
}

// f(the table) for the one it holds.
template <class F>
auto with_table(const PyRotation& rotation, const F& f) {
  return std::visit([&](const auto& table) { return f(*table); }, rotation.table);
}

}  // namespace

template <class T>
SharedRotation<T> rounded(const RotationTable<double>& table) {
  RotationTable<T> result{rounded_numbers<T>(table.cos),
                          rounded_numbers<T>(table.sin),
                          table.layout,
                          table.first_channel,
                          {}};
  if (table.keys) result.keys = rounded<T>(*table.keys);
  return std::make_shared<const RotationTable<T>>(std::move(result));
}
template SharedRotation<float> rounded(const RotationTable<double>&);
template SharedRotation<double> rounded(const RotationTable<double>&);
template SharedRotation<float16> rounded(const RotationTable<double>&);
template SharedRotation<bfloat16> rounded(const RotationTable<double>&);

void bind_tables(nb::module_& module) {
  nb::class_<PyRotation> rotation(
      module, "RotationTable",
      "Cosines and sines that rotate pairs of channels of queries and keys: "
      "[positions, pairs], or [heads, positions, pairs].\n\n"
      "rotate() applies it, attention(rotation=...) does so inside the call.");
  rotation
      .def(
          "__init__",
          [](PyRotation* self, const nb::object& cos, const nb::object& sin,
             const nb::object& layout, const nb::object& first_channel, const nb::object& keys) {
            new (self) PyRotation(new_rotation(cos, sin, layout, first_channel, keys));
          },
          nb::arg("cos"), nb::arg("sin"), nb::arg("layout") = "half_split",
          nb::arg("first_channel") = 0, nb::arg("keys").none() = nb::none(),
          nb::sig("def __init__(self, cos: object, sin: object, layout: str = 'half_split', "
                  "first_channel: int = 0, keys: RotationTable | None = None) -> None"))
      .def_prop_ro(
          "cos",
          [](nb::handle_t<PyRotation> self) {
            return with_table(nb::cast<const PyRotation&>(self),
                              [&](const auto& table) { return numbers_of(table.cos, self); });
          },
          nb::sig("def cos(self) -> numpy.typing.NDArray[typing.Any]"),
          "The cosines, a read-only view.")
      .def_prop_ro(
          "sin",
          [](nb::handle_t<PyRotation> self) {
            return with_table(nb::cast<const PyRotation&>(self),
                              [&](const auto& table) { return numbers_of(table.sin, self); });
          },
          nb::sig("def sin(self) -> numpy.typing.NDArray[typing.Any]"),
          "The sines, a read-only view.")
      .def_prop_ro(
          "layout",
          [](const PyRotation& self) {
            return with_table(self,
                              [](const auto& table) { return std::string(name_of(table.layout)); });
          },
          "half_split: channels k and k + n / 2 are a pair; interleaved: 2k and 2k + 1.")
      .def_prop_ro(
          "first_channel",
          [](const PyRotation& self) {
            return with_table(self, [](const auto& table) { return table.first_channel; });
          },
          "Where the rotated channels start in a head.")
      .def_prop_ro(
          "keys",
          [](const PyRotation& self) {
            return std::visit(
                [](const auto& table) -> PyRotation {
                  if (table->keys) return {table->keys};
                  return {table};
                },
                self.table);
          },
          "The table of keys; where it does not differ, the same numbers.")
      .def("__repr__", [](const PyRotation& self) {
        return with_table(self, [](const auto& table) {
          using T = std::remove_cvref_t<decltype(*table.cos.data())>;
          return "RotationTable(" + table.cos.shape().to_string() + ", layout='" +
                 std::string(name_of(table.layout)) +
                 "', first_channel=" + std::to_string(table.first_channel) + ", " +
                 std::string(dtype_name(dtype_of<T>)) + (table.keys ? ", other keys)" : ")");
        });
      });
  show_as_heatmap(rotation);
}

}  // namespace sextant::python
