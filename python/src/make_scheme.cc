// The table of any scheme, by the scheme's name.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "option_values.h"
#include "sextant/schemes/added/sinusoidal.h"
#include "sextant/schemes/scheme.h"
#include "tables.h"

namespace sextant::python {
namespace {

constexpr IntegerRange kLengths{0, std::int64_t{1} << 30};
constexpr IntegerRange kSizes{0, std::int64_t{1} << 30};  // schemes say what they need

// The first argument of every scheme: a length or ids.
struct Positions {
  std::vector<std::int64_t> ids;
  std::vector<double> times;  // real numbers, in place of ids
  std::int64_t axes = 1, length = 0;
  bool is_range = false;  // 0 .. length - 1
};

Positions read_positions(const Argument& argument, bool needs_ids) {
  Positions positions;
  if (PyIndex_Check(argument.value.ptr()) != 0 && !nb::hasattr(argument.value, "__len__")) {
    positions.length = argument.integer_in(kLengths);
    positions.is_range = true;
    if (!needs_ids) return positions;
    positions.ids.resize(static_cast<std::size_t>(positions.length));
    std::iota(positions.ids.begin(), positions.ids.end(), 0);
    return positions;
  }
  if (nb::isinstance<nb::list>(argument.value) || nb::isinstance<nb::tuple>(argument.value)) {
    positions.ids = argument.integers();
    positions.length = static_cast<std::int64_t>(positions.ids.size());
    return positions;
  }
  const InputArray array(argument);
  if (array.shape().rank() != 1) array.expect_rank(2, "a length, ids [rows] or ids [rows, axes]");
  if (array.shape().rank() == 2) positions.axes = std::max<std::int64_t>(1, array.shape()[1]);
  positions.length = array.shape()[0];
  if (!is_float(array.dtype())) {
    const Tensor<std::int64_t> ids = array.copy().to<std::int64_t>();
    positions.ids.assign(ids.span().begin(), ids.span().end());
  } else if (needs_ids) {
    throw_type_error(argument, "a whole number or an array of whole numbers");
  } else {
    const Tensor<double> times = array.copy().to<double>();
    positions.times.assign(times.span().begin(), times.span().end());
  }
  return positions;
}

SchemeWeights read_weights(const Scheme& scheme, nb::handle given) {
  if (!nb::isinstance<nb::dict>(given)) {
    throw_type_error({given, scheme.name, "weights"}, "a dict of arrays by name");
  }
  SchemeWeights weights;
  for (const auto [key, values] : nb::borrow<nb::dict>(given)) {
    const std::string name = text_of(key);
    weights.emplace(name, InputArray({values, scheme.name, name}).copy().to<double>());
  }
  return weights;
}

std::map<std::string, std::string> read_parameters(const Scheme& scheme, const nb::dict& given) {
  std::map<std::string, std::string> texts;
  for (const Option& option : scheme.parameters()) {
    const nb::str name(option.name.data(), option.name.size());
    if (!given.contains(name)) continue;
    const nb::object value = given[name];
    texts.emplace(option.name, text_of(option, {value, scheme.name, option.name}));
  }
  return texts;
}

// Sinusoids are made in the type that is asked for, with no float64 table in between, and at real
// positions too.
nb::object make_sinusoids(Sinusoidal options, const Positions& positions, DType dtype,
                          const Argument& out) {
  options.length = positions.length;
  if (positions.axes != 1) throw Error("sinusoidal.length", "must have one id per row");
  check_range(IntegerRange{1, kSizes.max}, "sinusoidal.width", options.width);
  const OutputArray result(out, dtype, {options.length, options.width});
  with_float(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const View<T> rows = result.view<T>();
    const nb::gil_scoped_release released;
    if (positions.is_range) return sinusoidal_into(rows, options);
    const Tensor<T> made = positions.times.empty()
                               ? sinusoidal<T>(options, std::span(positions.ids))
                               : sinusoidal<T>(options, std::span(positions.times));
    for (std::int64_t i = 0; i < rows.size(0); ++i)
      for (std::int64_t j = 0; j < rows.size(1); ++j) rows(i, j) = made(i, j);
  });
  return result.object();
}

// What a scheme made, as Python's object.
struct ToObject {
  const SchemeRequest& request;
  DType dtype;
  const Argument& out;

  nb::object operator()(std::monostate) const { return nb::none(); }
  nb::object operator()(const Tensor<double>& table) const {
    const OutputArray result(out, dtype, table.shape());
    with_float(dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const View<T> rows = result.view<T>();
      for (std::int64_t i = 0; i < table.size(0); ++i)
        for (std::int64_t j = 0; j < table.size(1); ++j)
          rows(i, j) = static_cast<T>(table.view()(i, j));
    });
    return result.object();
  }
  nb::object operator()(const RotationTable<double>& table) const {
    return with_float(dtype, [&](auto type) {
      return nb::cast(PyRotation{rounded<typename decltype(type)::type>(table)});
    });
  }
  nb::object operator()(DistanceBias& bias) const {
    return nb::cast(PyDistanceBias{std::move(bias)});
  }
  nb::object operator()(const std::shared_ptr<const IndexedBias>& bias) const {
    return nb::cast(PyIndexedBias{bias, request.heads, request.rows()});
  }
  nb::object operator()(const std::shared_ptr<const ContentTerm>& term) const {
    return nb::cast(PyContentTerm{term});
  }
};

std::int64_t size_of(const Scheme& scheme, const nb::dict& sizes, const char* name,
                     std::int64_t otherwise) {
  if (!sizes.contains(name)) return otherwise;
  const nb::object value = sizes[name];
  return Argument{value, scheme.name, name}.integer_in(kSizes);
}

nb::object make(const std::string& name, nb::handle positions, const nb::dict& sizes,
                const nb::dict& parameters, nb::handle weights, nb::handle dtype, nb::handle out) {
  const Scheme& scheme = find_scheme(name);
  const bool is_sinusoidal = scheme.name == "sinusoidal";
  const auto first = std::ranges::find(scheme.parameters(), "length", &Option::name);
  const Positions rows = read_positions(
      {positions, scheme.name, first == scheme.parameters().end() ? "length" : "positions"},
      !is_sinusoidal);
  const DType type = Argument{dtype, scheme.name, "dtype"}.dtype();
  const Argument target{out, scheme.name, "out"};
  SchemeRequest request{.width = size_of(scheme, sizes, "width", 0),
                        .heads = size_of(scheme, sizes, "heads", 1),
                        .head_dim = size_of(scheme, sizes, "head_dim", 0),
                        .positions = rows.ids,
                        .axes = rows.axes,
                        .parameters = read_parameters(scheme, parameters)};
  if (is_sinusoidal) {
    Sinusoidal options = sinusoidal_from(request.parameters);
    options.width = request.width;
    return make_sinusoids(options, rows, type, target);
  }
  SchemeWeights given;
  if (!weights.is_none()) {
    given = read_weights(scheme, weights);
    request.weights = &given;
  }
  SchemeTable table;
  {
    const nb::gil_scoped_release released;
    table = scheme.make(request);
  }
  return std::visit(ToObject{request, type, target}, table);
}

}  // namespace

void bind_make_scheme(nb::module_& module) {
  module.def("make", &make, nb::arg("name"), nb::arg("positions").none(), nb::arg("sizes"),
             nb::arg("parameters"), nb::arg("weights").none(), nb::arg("dtype").none(),
             nb::arg("out").none(),
             nb::sig("def make(name: str, positions: object, sizes: dict[str, typing.Any], "
                     "parameters: dict[str, typing.Any], weights: typing.Any, dtype: object, "
                     "out: object) -> typing.Any"),
             "The table of a scheme.");
}

}  // namespace sextant::python
