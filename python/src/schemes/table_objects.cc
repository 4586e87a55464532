// Tables as objects of Python: their numbers as one array, equality, copies and pickles.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "arrays.h"
#include "copies.h"
#include "core/arrays/converted.h"
#include "interpreter_lock.h"
#include "schemes/tables.h"

namespace sextant::python {
namespace {

nb::object numpy_dtype(DType type) {
  const char* module = type == DType::bfloat16 ? "ml_dtypes" : "numpy";
  const nb::object element =
      nb::module_::import_(module).attr(std::string(dtype_name(type)).c_str());
  return nb::module_::import_("numpy").attr("dtype")(element);
}

nb::tuple tuple_of(const Shape& shape) {
  nb::list sizes;
  for (const std::int64_t size : shape) sizes.append(size);
  return nb::tuple(sizes);
}

// The protocol of numpy.asarray() for numbers that are made for each call.
nb::object as_array(nb::object numbers, nb::handle dtype, nb::handle copy) {
  if (!copy.is_none() && bool_of(copy) == false) {
    throw Error("__array__.copy", "must not be False: the numbers are made for each call");
  }
  return dtype.is_none() ? numbers : nb::object(numbers.attr("astype")(dtype));
}

// Adds the array protocol and attributes: `shape` and `dtype` of T, `numbers` as an array.
template <class T>
void like_an_array(nb::class_<T>& type, Shape (*shape)(const T&), DType (*dtype)(const T&),
                   nb::object (*numbers)(const T&), const char* axes) {
  type.def(
          "__array__",
          [numbers](const T& self, nb::handle as, nb::handle copy) {
            return as_array(numbers(self), as, copy);
          },
          nb::arg("dtype").none() = nb::none(), nb::arg("copy").none() = nb::none(),
          nb::sig("def __array__(self, dtype: object = None, copy: bool | None = None) -> "
                  "numpy.typing.NDArray[typing.Any]"))
      .def_prop_ro(
          "shape", [shape](const T& self) { return tuple_of(shape(self)); },
          nb::sig("def shape(self) -> tuple[int, ...]"), axes)
      .def_prop_ro(
          "dtype", [dtype](const T& self) { return numpy_dtype(dtype(self)); },
          nb::sig("def dtype(self) -> numpy.dtype[typing.Any]"), "Of the numbers.")
      .def("__len__", [shape](const T& self) { return shape(self)[0]; })
      .def("__hash__", [shape](const T& self) {
        std::size_t hash = 0;
        for (const std::int64_t size : shape(self)) {
          hash = 31 * hash + static_cast<std::size_t>(size);
        }
        return static_cast<Py_ssize_t>(hash >> 1);
      });
}

template <class T>
void add_equality(nb::class_<T>& type, bool (*equal)(const T&, const T&)) {
  type.def(
      "__eq__",
      [equal](const T& self, nb::handle other) -> nb::object {
        const T* same = held<T>(other);
        if (same == nullptr) return nb::borrow(nb::handle(Py_NotImplemented));
        return nb::bool_(&self == same || equal(self, *same));
      },
      nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"));
}

template <class T>
bool equal(const Tensor<T>& a, const Tensor<T>& b) {
  const auto number = [](T x) { return static_cast<double>(x); };
  return a.shape() == b.shape() && std::ranges::equal(a.span(), b.span(), {}, number, number);
}

template <class T>
bool equal(const RotationTable<T>& a, const RotationTable<T>& b) {
  if (a.layout != b.layout || a.first_channel != b.first_channel || a.positions != b.positions ||
      a.first_position != b.first_position || !equal(a.cos, b.cos) || !equal(a.sin, b.sin)) {
    return false;
  }
  const RotationTable<T>&x = a.for_keys(), &y = b.for_keys();
  return (&x == &a && &y == &b) || (equal(x.cos, y.cos) && equal(x.sin, y.sin));
}

Shape with_two(const Shape& shape) {
  std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  sizes.push_back(2);
  return Shape(sizes);
}

Shape rotation_shape(const PyRotation& self) {
  return std::visit([](const auto& table) { return with_two(table->cos.shape()); }, self.table);
}

DType rotation_dtype(const PyRotation& self) {
  return std::visit([]<class T>(const SharedRotation<T>&) { return dtype_of<T>; }, self.table);
}

nb::object rotation_numbers(const PyRotation& self) {
  return std::visit(
      []<class T>(const SharedRotation<T>& table) {
        auto numbers = Tensor<T>::uninitialized(with_two(table->cos.shape()));
        for (std::int64_t i = 0; i < table->cos.count(); ++i) {
          numbers.data()[2 * i] = table->cos.data()[i];
          numbers.data()[2 * i + 1] = table->sin.data()[i];
        }
        return to_python(std::move(numbers));
      },
      self.table);
}

nb::tuple reduce_rotation(nb::handle self) {
  const auto& rotation = nb::cast<const PyRotation&>(self);
  const bool other_keys =
      std::visit([](const auto& table) { return table->keys != nullptr; }, rotation.table);
  return made_by("rotation", self.attr("cos"), self.attr("sin"), self.attr("layout"),
                 self.attr("first_channel"), other_keys ? self.attr("keys") : nb::none(),
                 self.attr("positions"));
}

Shape bias_shape(const DistanceBias& bias) {
  if (!bias.has_table()) {
    throw Error("DistanceBias", "must have values by distance to be an array, got slopes alone");
  }
  return {std::max(std::ssize(bias.slopes), bias.values.size(0)), bias.values.size(1)};
}

bool equal_biases(const PyDistanceBias& a, const PyDistanceBias& b) {
  if (a.bias.slopes != b.bias.slopes || a.bias.has_table() != b.bias.has_table()) return false;
  return !a.bias.has_table() ||
         (a.bias.origin == b.bias.origin && equal(a.bias.values, b.bias.values));
}

nb::tuple reduce_bias(nb::handle self) {
  const bool has_table = nb::cast<const PyDistanceBias&>(self).bias.has_table();
  const nb::object slopes = self.attr("slopes");
  return made_by("distance_bias", self.attr("values"), has_table ? self.attr("origin") : nb::none(),
                 nb::len(slopes) > 0 ? slopes : nb::none());
}

bool equal_terms(const PyScoreTerm& a, const PyScoreTerm& b) {
  if (!a.recipe || !b.recipe) return a.term == b.term;
  const TermRecipe &x = *a.recipe, &y = *b.recipe;
  const auto same_weight = [](const auto& one, const auto& other) {
    return one.first == other.first && equal(one.second, other.second);
  };
  return x.scheme == y.scheme && x.heads == y.heads && x.head_dim == y.head_dim &&
         x.rows.length == y.rows.length && x.rows.axes == y.rows.axes && x.rows.ids == y.rows.ids &&
         x.rows.times == y.rows.times && x.parameters == y.parameters &&
         std::ranges::equal(x.weights, y.weights, same_weight);
}

nb::object rows_of(const Positions& rows) {
  if (rows.is_range) return nb::int_(rows.length);
  const auto array = [&](const auto& numbers) {
    Tensor<std::remove_cvref_t<decltype(numbers[0])>> kept(
        rows.axes == 1 ? Shape{rows.length} : Shape{rows.length, rows.axes});
    std::ranges::copy(numbers, kept.data());
    return to_python(std::move(kept));
  };
  return rows.times.empty() ? array(rows.ids) : array(rows.times);
}

nb::tuple reduce_term(const PyScoreTerm& self) {
  if (self.reduced.is_valid()) return nb::borrow<nb::tuple>(self.reduced);
  if (!self.recipe) throw WrongType("[ScoreTerm] must be made by a scheme to be pickled");
  const TermRecipe& recipe = *self.recipe;
  nb::dict sizes, weights;
  sizes["heads"] = recipe.heads;
  if (recipe.head_dim > 0) sizes["head_dim"] = recipe.head_dim;
  for (const auto& [name, values] : recipe.weights) {
    weights[name.c_str()] = to_python(values.clone());
  }
  return made_by("term", recipe.scheme, rows_of(recipe.rows), sizes, recipe.parameters,
                 recipe.weights.empty() ? nb::object(nb::none()) : nb::object(weights));
}

}  // namespace

Tensor<double> added_numbers(const DistanceBias& bias) {
  auto numbers = Tensor<double>::uninitialized(bias_shape(bias));
  for (std::int64_t head = 0; head < numbers.size(0); ++head) {
    const double slope = bias.slopes.empty() ? 0 : bias.slopes[static_cast<std::size_t>(head)];
    for (std::int64_t n = 0; n < numbers.size(1); ++n) {
      numbers(head, n) = static_cast<double>(bias.values(bias.values.size(0) == 1 ? 0 : head, n)) -
                         slope * static_cast<double>(std::abs(n - bias.origin));
    }
  }
  return numbers;
}

void add_object_of(nb::class_<PyRotation>& type) {
  like_an_array<PyRotation>(type, &rotation_shape, &rotation_dtype, &rotation_numbers,
                            "[positions, pairs, 2] or [heads, positions, pairs, 2]: cosine and "
                            "sine last, as numpy.asarray() gives them.");
  add_equality<PyRotation>(type, [](const PyRotation& a, const PyRotation& b) {
    if (a.table.index() != b.table.index()) return false;
    return std::visit(
        [&]<class T>(const SharedRotation<T>& table) {
          return equal(*table, *std::get<SharedRotation<T>>(b.table));
        },
        a.table);
  });
  never_changes(type);
  type.def("__reduce__", &reduce_rotation, nb::sig(kReduceSignature));
}

void add_object_of(nb::class_<PyDistanceBias>& type) {
  like_an_array<PyDistanceBias>(
      type, [](const PyDistanceBias& self) { return bias_shape(self.bias); },
      [](const PyDistanceBias&) { return DType::float32; },
      [](const PyDistanceBias& self) {
        return to_python(converted<float>(added_numbers(self.bias)));
      },
      "[heads or 1, distances] of what is added, slopes included, as numpy.asarray() gives it.");
  add_equality<PyDistanceBias>(type, &equal_biases);
  never_changes(type);
  type.def("__reduce__", &reduce_bias, nb::sig(kReduceSignature));
}

void add_object_of(nb::class_<PyScoreTerm>& type) {
  like_an_array<PyScoreTerm>(
      type,
      [](const PyScoreTerm& self) {
        return Shape{self.heads, self.length, self.length};
      },
      [](const PyScoreTerm&) { return DType::float32; }, &all_numbers,
      "[heads, length, length], as array() gives it.");
  add_equality<PyScoreTerm>(type, &equal_terms);
  never_changes(type);
  type.def("__reduce__", &reduce_term, nb::sig(kReduceSignature));
}

}  // namespace sextant::python
