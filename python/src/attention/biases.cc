// Biases and terms of the scores as Python's objects.
#include <nanobind/stl/string.h>

#include <iterator>
#include <string>

#include "arrays.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "schemes/function_term.h"
#include "schemes/tables.h"
#include "sextant/core/parallel.h"
#include "sextant/schemes/indexed/block_mask.h"

namespace sextant::python {
namespace {

PyDistanceBias new_distance_bias(const nb::object& values, const nb::object& origin,
                                 const nb::object& slopes) {
  DistanceBias bias;
  if (!values.is_none()) {
    const InputArray array({values, "DistanceBias", "values"});
    array.expect_rank(2, "[heads or 1, distances]");
    bias.values = array.copy().to<float>();
    bias.origin = origin.is_none() ? (array.shape()[1] - 1) / 2
                                   : Argument{origin, "DistanceBias", "origin"}.integer();
  }
  if (!slopes.is_none()) bias.slopes = Argument{slopes, "DistanceBias", "slopes"}.numbers();
  const std::int64_t rows = bias.has_table() ? bias.values.size(0) : 1;
  if (rows > 1 && !bias.slopes.empty() && std::ssize(bias.slopes) != rows) {
    throw Error("DistanceBias.slopes", "must be one for each head of values, " +
                                           std::to_string(rows) + ", got " +
                                           std::to_string(bias.slopes.size()));
  }
  return {std::move(bias)};
}

// `made_by` makes the term again from these arguments.
nb::object block_mask_term(nb::handle block_indices, nb::handle query_block, nb::handle key_block,
                           nb::handle group, nb::handle made_by) {
  const InputArray array({block_indices, "block_mask", "block_indices"});
  const int rank = array.shape().rank();
  if (rank < 2 || rank > 4 || is_float(array.dtype()) || array.dtype() == DType::boolean) {
    throw_type_error(array.argument(),
                     "an array of whole numbers [batch, heads, query_blocks, n], the first axes "
                     "may be left out");
  }
  const BlockMask sizes{Argument{query_block, "block_mask", "query_block"}.integer(),
                        Argument{key_block, "block_mask", "key_block"}.integer(),
                        Argument{group, "block_mask", "group"}.integer()};
  Tensor<std::int64_t> indices = array.copy().to<std::int64_t>();
  View<const std::int64_t> lists = indices;
  while (lists.rank() < 4) lists = lists.unsqueeze(0);
  PyScoreTerm term{block_mask(sizes, lists), lists.size(1) * (lists.size(1) == 1 ? 1 : sizes.group),
                   lists.size(2) * sizes.query_block};
  term.reduced = nb::make_tuple(nb::borrow(made_by),
                                nb::make_tuple(to_python(std::move(indices)), sizes.query_block,
                                               sizes.key_block, sizes.group));
  return nb::cast(std::move(term));
}

}  // namespace

nb::object all_numbers(const PyScoreTerm& self) {
  if (self.term->needs().reads_rows()) {
    throw Error("ScoreTerm.array",
                "must be of a term that depends on positions alone; this one "
                "depends on q and k as well");
  }
  Tensor<float> values = Tensor<float>::uninitialized({self.heads, self.length, self.length});
  {
    const Unlocked released;
    parallel_for(self.heads * self.length, 0, [&](std::int64_t row) {
      write_term(*self.term,
                 {.head = row / self.length,
                  .first_query = row % self.length,
                  .queries = 1,
                  .keys = self.length},
                 values.data() + row * self.length);
    });
  }
  if (const auto* function = dynamic_cast<const FunctionTerm*>(self.term.get())) function->raise();
  return to_python(std::move(values));
}

void bind_biases(nb::module_& module) {
  nb::class_<PyDistanceBias> distance(
      module, "DistanceBias", nb::is_weak_referenceable(),
      "A number per head and distance (key - query) that is added to the "
      "scores: values[head, distance + origin]; -inf hides the pair. Slopes "
      "add -slopes[head] * |distance|.");
  distance
      .def(
          "__init__",
          [](PyDistanceBias* self, const nb::object& values, const nb::object& origin,
             const nb::object& slopes) {
            new (self) PyDistanceBias(new_distance_bias(values, origin, slopes));
          },
          nb::arg("values").none() = nb::none(), nb::arg("origin").none() = nb::none(),
          nb::arg("slopes").none() = nb::none(),
          nb::sig("def __init__(self, values: object = None, origin: int | None = None, "
                  "slopes: object = None) -> None"))
      .def_prop_ro(
          "values",
          [](nb::handle_t<PyDistanceBias> self) -> nb::object {
            const auto& bias = nb::cast<const PyDistanceBias&>(self).bias;
            if (!bias.has_table()) return nb::none();
            return numbers_of(bias.values, self);
          },
          nb::sig("def values(self) -> numpy.typing.NDArray[numpy.float32] | None"),
          "[heads or 1, distances], a read-only view; None where there are only slopes.")
      .def_prop_ro(
          "origin", [](const PyDistanceBias& self) { return self.bias.origin; },
          "The column of distance 0.")
      .def_prop_ro(
          "slopes",
          [](const PyDistanceBias& self) {
            nb::list list;
            for (const double slope : self.bias.slopes) list.append(slope);
            return nb::tuple(list);
          },
          nb::sig("def slopes(self) -> tuple[float, ...]"), "One per head, or none.")
      .def("__repr__", [](const PyDistanceBias& self) {
        std::string text = "DistanceBias(";
        if (self.bias.has_table()) {
          text +=
              self.bias.values.shape().to_string() + ", origin=" + std::to_string(self.bias.origin);
        }
        if (!self.bias.slopes.empty()) {
          text += (self.bias.has_table() ? ", " : "") + std::to_string(self.bias.slopes.size()) +
                  " slopes";
        }
        return text + ")";
      });
  add_object_of(distance);
  show_as_heatmap(distance);

  nb::class_<PyScoreTerm> term(
      module, "ScoreTerm", nb::is_weak_referenceable(),
      "A term of the scores that is generated in tiles while attention() runs: a bias by the "
      "positions of query and key, or a term that depends on q and k as well; for "
      "attention(bias=...).");
  term.def("array", &all_numbers, nb::sig("def array(self) -> numpy.typing.NDArray[numpy.float32]"),
           "All numbers of the length it was made for, [heads, length, length] of float32; -inf "
           "hides. For terms that depend on positions alone.")
      .def("__repr__", [](const PyScoreTerm& self) {
        return "ScoreTerm(heads=" + std::to_string(self.heads) +
               ", length=" + std::to_string(self.length) + ")";
      });
  module.def(
      "block_mask", &block_mask_term, nb::arg("block_indices").none(),
      nb::arg("query_block").none(), nb::arg("key_block").none(), nb::arg("group").none(),
      nb::arg("made_by"),
      nb::sig("def block_mask(block_indices: object, query_block: object, key_block: object, "
              "group: object, made_by: object) -> ScoreTerm"));
  add_object_of(term);
  show_as_heatmap<PyScoreTerm>(
      term, [](const PyScoreTerm& self) { return !self.term->needs().reads_rows(); });
}

}  // namespace sextant::python
