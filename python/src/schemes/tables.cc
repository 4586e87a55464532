// Tables of rotations as Python's objects.
#include "schemes/tables.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"

namespace sextant::python {
namespace {

template <class T>
SharedRotation<T> rotation_from(const InputArray& cos, const InputArray& sin, RotaryLayout layout,
                                std::int64_t first_channel, const nb::object& keys,
                                const nb::object& positions) {
  RotationTable<T> table{copy_of(cos.view<T>()), copy_of(sin.view<T>()), layout, first_channel, {}};
  const std::int64_t rows = table.cos.size(table.cos.rank() - 2);
  const Argument given{positions, "RotationTable", "positions"};
  if (PyIndex_Check(positions.ptr()) != 0 && !nb::hasattr(positions, "__len__")) {
    table.first_position = given.integer();
  } else if (!positions.is_none()) {
    const std::vector<std::int64_t> ids = given.integers();
    if (std::ssize(ids) != rows) {
      throw Error(given.where(), "must be one id for each of the " + std::to_string(rows) +
                                     " rows, got " + std::to_string(ids.size()));
    }
    table.set_positions(ids);
  }
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
                        const nb::object& first_channel, const nb::object& keys,
                        const nb::object& positions) {
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
    return PyRotation{rotation_from<T>(cosines, sines, order, first, keys, positions)};
  });
}

// f(the table) for the one it holds.
template <class F>
auto with_table(const PyRotation& rotation, const F& f) {
  return std::visit([&](const auto& table) { return f(*table); }, rotation.table);
}

}  // namespace

void bind_tables(nb::module_& module) {
  nb::class_<PyRotation> rotation(
      module, "RotationTable", nb::is_weak_referenceable(),
      "Cosines and sines that rotate pairs of channels of queries and keys: "
      "[positions, pairs], or [heads, positions, pairs].\n\n"
      "rotate() applies it, attention(rotation=...) does so inside the call.");
  rotation
      .def(
          "__init__",
          [](PyRotation* self, const nb::object& cos, const nb::object& sin,
             const nb::object& layout, const nb::object& first_channel, const nb::object& keys,
             const nb::object& positions) {
            new (self) PyRotation(new_rotation(cos, sin, layout, first_channel, keys, positions));
          },
          nb::arg("cos"), nb::arg("sin"), nb::arg("layout") = "half_split",
          nb::arg("first_channel") = 0, nb::arg("keys").none() = nb::none(),
          nb::arg("positions").none() = nb::none(),
          nb::sig("def __init__(self, cos: object, sin: object, layout: str = 'half_split', "
                  "first_channel: int = 0, keys: RotationTable | None = None, "
                  "positions: int | collections.abc.Sequence[int] | None = None) -> None"))
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
      .def_prop_ro(
          "positions",
          [](const PyRotation& self) {
            return with_table(self, [](const auto& table) {
              auto ids =
                  Tensor<std::int64_t>::uninitialized({table.cos.size(table.cos.rank() - 2)});
              std::iota(ids.data(), ids.data() + ids.count(), table.first_position);
              std::ranges::copy(table.positions, ids.data());
              return to_python(std::move(ids));
            });
          },
          nb::sig("def positions(self) -> numpy.typing.NDArray[numpy.int64]"),
          "The position of each row, which attention(positions=...) asks for; given as that of "
          "row 0, or as one id for each row.")
      .def("__repr__", [](const PyRotation& self) {
        return with_table(self, [](const auto& table) {
          using T = std::remove_cvref_t<decltype(*table.cos.data())>;
          return "RotationTable(" + table.cos.shape().to_string() + ", layout='" +
                 std::string(name_of(table.layout)) +
                 "', first_channel=" + std::to_string(table.first_channel) + ", " +
                 std::string(dtype_name(dtype_of<T>)) + (table.keys ? ", other keys)" : ")");
        });
      });
  add_object_of(rotation);
  show_as_heatmap(rotation);
}

}  // namespace sextant::python
