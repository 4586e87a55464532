// The table of any scheme, by the scheme's name.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <variant>

#include "arrays.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "schemes/scheme_request.h"
#include "schemes/tables.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::python {
namespace {

// Makes sinusoids in the requested type, without a float64 table, and also at real positions.
nb::object make_sinusoids(Sinusoidal options, const Positions& positions, DType dtype,
                          const Argument& out) {
  options.length = positions.length;
  if (positions.axes != 1) throw Error("sinusoidal.positions", "must have one id per row");
  check_range(IntegerRange{1, std::int64_t{1} << 30}, "sinusoidal.width", options.width);
  OutputArray result(out, dtype, {options.length, options.width});
  with_float(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const View<T> rows = result.view<T>();
    const Unlocked released;
    if (positions.is_range) return sinusoidal_into(rows, options);
    const Tensor<T> made = positions.times.empty()
                               ? sinusoidal<T>(options, std::span(positions.ids))
                               : sinusoidal<T>(options, std::span(positions.times));
    for (std::int64_t i = 0; i < rows.size(0); ++i)
      for (std::int64_t j = 0; j < rows.size(1); ++j) rows(i, j) = made(i, j);
  });
  return std::move(result).finished();
}

// Turns the result of a scheme into Python's object.
struct ToObject {
  const SchemeRequest& request;
  DType dtype;
  const Argument& out;

  nb::object operator()(std::monostate) const { return nb::none(); }
  nb::object operator()(const Tensor<double>& table) const {
    OutputArray result(out, dtype, table.shape());
    with_float(dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      const View<T> rows = result.view<T>();
      for (std::int64_t i = 0; i < table.size(0); ++i) {
        check_interruption();
        for (std::int64_t j = 0; j < table.size(1); ++j)
          rows(i, j) = static_cast<T>(table.view()(i, j));
      }
    });
    return std::move(result).finished();
  }
  nb::object operator()(const RotationTable<double>& table) const {
    return with_float(dtype, [&](auto type) {
      return nb::cast(PyRotation{rounded<typename decltype(type)::type>(table)});
    });
  }
  nb::object operator()(DistanceBias& bias) const {
    return nb::cast(PyDistanceBias{std::move(bias)});
  }
  nb::object operator()(const std::shared_ptr<const ScoreTerm>& term) const {
    return nb::cast(PyScoreTerm{term, request.heads, request.rows()});
  }
};

// The library's functions have a length where all of these have positions.
Error in_words_of_call(const Scheme& scheme, const Error& error) {
  const bool has_length = std::ranges::any_of(
      scheme.parameters(), [](const Option& option) { return option.name == "length"; });
  if (has_length || error.where() != std::string(scheme.name) + ".length") return error;
  return {std::string(scheme.name) + ".positions",
          std::string(error.what()).substr(error.where().size() + 3)};
}

// Moves the data of the request, which is not used afterwards.
std::shared_ptr<const TermRecipe> recipe_of(const Scheme& scheme, PyRequest& asked) {
  if (asked.rows.is_range) asked.rows.ids = {};
  return std::make_shared<const TermRecipe>(
      TermRecipe{std::string(scheme.name), std::move(asked.rows), asked.request.heads,
                 asked.request.head_dim, asked.request.parameters, std::move(asked.weights)});
}

nb::object make(const std::string& name, nb::handle positions, const nb::dict& sizes,
                const nb::dict& parameters, nb::handle weights, nb::handle dtype, nb::handle out) {
  const Interruption interruption(&check_signals);
  const Scheme& scheme = find_scheme(name);
  const bool is_sinusoidal = scheme.name == "sinusoidal";
  const DType type = Argument{dtype, scheme.name, "dtype"}.dtype();
  const Argument target{out, scheme.name, "out"};
  PyRequest asked(scheme, read_positions(scheme, positions, is_sinusoidal), sizes, parameters,
                  weights);
  const SchemeRequest& request = asked.request;
  if (is_sinusoidal) {
    Sinusoidal options = sinusoidal_from(request.parameters);
    options.width = request.width;
    return make_sinusoids(options, asked.rows, type, target);
  }
  SchemeTable table;
  try {
    const Unlocked released;
    table = scheme.make(request);
  } catch (const Error& error) {
    throw in_words_of_call(scheme, error);
  }
  const nb::object made = std::visit(ToObject{request, type, target}, table);
  if (auto* term = held<PyScoreTerm>(made)) term->recipe = recipe_of(scheme, asked);
  return made;
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
