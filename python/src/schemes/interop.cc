// Tables, configs and weights of other libraries.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "schemes/tables.h"
#include "sextant/identify/identify.h"
#include "sextant/interop/convert_rotary.h"
#include "sextant/interop/model_config.h"
#include "sextant/interop/stored_table.h"

namespace sextant::python {
namespace {

// Numbers, the type to which they were rounded, and the attributes of their table.
struct Given {
  Tensor<double> values;
  DType dtype = DType::float64;
  std::optional<RotaryLayout> layout = {};
};

template <class T>
Given numbers_of_table(const RotationTable<T>& table) {
  std::vector<std::int64_t> sizes(table.cos.shape().begin(), table.cos.shape().end());
  sizes.push_back(2);
  Given given{Tensor<double>(Shape(sizes)), dtype_of<T>, table.layout};
  for (std::int64_t i = 0; i < table.cos.count(); ++i) {
    given.values.data()[2 * i] = static_cast<double>(table.cos.data()[i]);
    given.values.data()[2 * i + 1] = static_cast<double>(table.sin.data()[i]);
  }
  return given;
}

// Slopes alone, or [heads, distances].
Given numbers_of_bias(const DistanceBias& bias) {
  if (!bias.has_table()) {
    Given given{Tensor<double>({std::ssize(bias.slopes)})};
    std::copy(bias.slopes.begin(), bias.slopes.end(), given.values.data());
    return given;
  }
  return {added_numbers(bias), DType::float32};
}

Given numbers_of(nb::handle array) {
  if (const auto* rotation = held<PyRotation>(array)) {
    return std::visit([](const auto& table) { return numbers_of_table(*table); }, rotation->table);
  }
  if (const auto* bias = held<PyDistanceBias>(array)) return numbers_of_bias(bias->bias);
  const InputArray in({array, "identify", "array"}, Gradients::meaningless);
  const bool is_number = is_float(in.dtype()) || in.dtype() >= DType::int8;
  if (!is_number) throw_type_error(in.argument(), "an array of numbers");
  return {in.copy().to<double>(), is_float(in.dtype()) ? in.dtype() : DType::float64};
}

Identification identify(nb::handle array, nb::handle dtype, nb::handle threads) {
  const Interruption interruption(&check_signals);
  const Given given = numbers_of(array);
  const DType type = dtype.is_none() ? given.dtype : Argument{dtype, "identify", "dtype"}.dtype();
  const int workers = Argument{threads, "identify", "threads"}.threads();
  const Unlocked released;
  Identification found = identify_array(given.values, unit_roundoff(type), workers);
  if (given.layout == RotaryLayout::interleaved && !found.inv_freq.empty()) {
    found.parameters["layout"] = name_of(*given.layout);
  }
  return found;
}

nb::dict layer_of(const std::string& source, bool is_path, nb::handle layer,
                  const std::string& read_as) {
  const ModelConfig config =
      is_path ? load_model_config(source, read_as) : parse_model_config(source, "config", read_as);
  const LayerPositions& positions =
      layer_positions(config, Argument{layer, "from_config", "layer"}.integer());
  nb::dict result;
  result["model_type"] = config.model_type;
  result["layers"] = config.layers.size();
  result["max_positions"] = config.max_positions;
  result["scheme"] = positions.scheme;
  result["texts"] = positions.parameters;
  result["width"] = positions.width;
  result["heads"] = positions.heads;
  result["kv_heads"] = positions.kv_heads;
  result["head_dim"] = positions.head_dim;
  result["causal"] = positions.causal;
  result["window"] = nb::make_tuple(positions.window_left, positions.window_right);
  result["chunk"] = positions.chunk;
  result["scale"] = positions.scale;
  result["softcap"] = positions.softcap;
  result["sinks"] = positions.sinks;
  result["bias_factor"] = positions.bias_factor;
  return result;
}

nb::object permute_rows(nb::handle weights, nb::handle head_dim, nb::handle to,
                        nb::handle rotary_dim, nb::handle span, nb::handle out) {
  constexpr std::string_view kName = "convert_rotary";
  const InputArray in({weights, kName, "weights"});
  const RotaryRows rows{.head_dim = Argument{head_dim, kName, "head_dim"}.integer(),
                        .rotary_dim = Argument{rotary_dim, kName, "rotary_dim"}.integer(),
                        .span = Argument{span, kName, "span"}.choice<RotarySpan>()};
  const auto layout = Argument{to, kName, "to"}.choice<RotaryLayout>();
  OutputArray result({out, kName, "out"}, in.dtype(), in.shape(), weights);
  Array array = in.copy();
  (layout == RotaryLayout::half_split ? to_half_split : to_interleaved)(array, rows, 0, -1);
  result.assign(array);
  return std::move(result).finished();
}

}  // namespace

void bind_interop(nb::module_& module) {
  nb::class_<Identification>(module, "Identification",
                             "Whose table an array is: the scheme and its parameters.")
      .def_ro(
          "scheme", &Identification::scheme,
          "A name of schemes(), 'unknown', or 'rotary_unknown' for frequencies of no known rule.")
      .def_ro("parameters", &Identification::parameters,
              "What differs from the scheme's defaults, as text.")
      .def_ro("mistake", &Identification::mistake, "A known mistake in the table, or ''.")
      .def_ro("explanation", &Identification::explanation, "One or two sentences.")
      .def_ro("confidence", &Identification::confidence, "0 .. 1.")
      .def_ro("max_deviation", &Identification::max_deviation,
              "The largest difference between the array and the scheme's own numbers.")
      .def_ro("form", &Identification::form, "Which numbers of the scheme the array holds.")
      .def_ro("first", &Identification::first, "The position of row 0, of rotations.")
      .def_ro("head_dim", &Identification::head_dim)
      .def_ro("heads", &Identification::heads)
      .def_ro("length", &Identification::length)
      .def_ro("inv_freq", &Identification::inv_freq, "Radians per position of every pair.")
      .def_ro("attention_factor", &Identification::attention_factor)
      .def("__repr__", [](const Identification& self) {
        return "Identification(" + self.scheme + ": " + self.explanation + ")";
      });
  module.def("identify", &identify, nb::arg("array").none(), nb::arg("dtype").none(),
             nb::arg("threads").none());
  module.def(
      "layer_of", &layer_of, nb::arg("source"), nb::arg("is_path"), nb::arg("layer").none(),
      nb::arg("read_as"),
      nb::sig("def layer_of(source: str, is_path: bool, layer: object, read_as: str) -> dict[str, "
              "typing.Any]"));
  module.def("convert_rotary", &permute_rows, nb::arg("weights").none(), nb::arg("head_dim").none(),
             nb::arg("to").none(), nb::arg("rotary_dim").none(), nb::arg("span").none(),
             nb::arg("out").none(),
             nb::sig("def convert_rotary(weights: object, head_dim: object, to: object, "
                     "rotary_dim: object, span: object, out: object) -> typing.Any"));
}

}  // namespace sextant::python
