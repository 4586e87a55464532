// Requests of schemes from Python's values.
#include "schemes/scheme_request.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "arrays.h"
#include "option_values.h"

namespace sextant::python {
namespace {

constexpr IntegerRange kRequestLengths{0, std::int64_t{1} << 30};
constexpr IntegerRange kRequestSizes{0, std::int64_t{1} << 30};  // schemes check their requirements

SchemeWeights read_weights(const Scheme& scheme, nb::handle given) {
  if (!nb::isinstance<nb::dict>(given)) {
    throw_type_error({given, scheme.name, "weights"}, "a dict of arrays by name");
  }
  SchemeWeights weights;
  for (const auto& [key, values] : items_of(nb::borrow<nb::dict>(given))) {
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

std::int64_t size_of(const Scheme& scheme, const nb::dict& sizes, const char* name,
                     std::int64_t otherwise) {
  if (!sizes.contains(name)) return otherwise;
  const nb::object value = sizes[name];
  return Argument{value, scheme.name, name}.integer_in(kRequestSizes);
}

}  // namespace

Positions read_positions(const Scheme& scheme, nb::handle value, bool as_range) {
  const Argument argument{value, scheme.name, "positions"};
  Positions positions;
  if (PyIndex_Check(argument.value.ptr()) != 0 && !nb::hasattr(argument.value, "__len__")) {
    positions.length = argument.integer_in(kRequestLengths);
    positions.is_range = true;
    if (as_range) return positions;
    positions.ids.resize(static_cast<std::size_t>(positions.length));
    std::iota(positions.ids.begin(), positions.ids.end(), 0);
    return positions;
  }
  const bool is_array =
      nb::hasattr(argument.value, "__dlpack__") || PyObject_CheckBuffer(argument.value.ptr()) != 0;
  if (!is_array && !nb::hasattr(argument.value, "__iter__")) {
    throw_type_error(argument, "how many positions there are, or their ids");
  }
  if (!is_array) {
    positions.ids = argument.integers();
    positions.length = static_cast<std::int64_t>(positions.ids.size());
    return positions;
  }
  const InputArray array(argument);
  if (array.shape().rank() != 1) array.expect_rank(2, "how many, ids [rows] or ids [rows, axes]");
  if (array.shape().rank() == 2) positions.axes = array.shape()[1];
  if (positions.axes == 0) {
    throw Error(argument.where(),
                "must have one id or more per row, got the shape " + array.shape().to_string());
  }
  positions.length = array.shape()[0];
  if (!is_float(array.dtype())) {
    const Tensor<std::int64_t> ids = array.copy().to<std::int64_t>();
    positions.ids.assign(ids.span().begin(), ids.span().end());
  } else if (!scheme.real_positions) {
    throw_type_error(argument, "a whole number or an array of whole numbers");
  } else {
    const Tensor<double> times = array.copy().to<double>();
    positions.times.assign(times.span().begin(), times.span().end());
  }
  return positions;
}

PyRequest::PyRequest(const Scheme& scheme, Positions given_rows, const nb::dict& sizes,
                     const nb::dict& parameters, nb::handle given_weights)
    : rows(std::move(given_rows)) {
  request.width = size_of(scheme, sizes, "width", 0);
  request.heads = size_of(scheme, sizes, "heads", 1);
  request.head_dim = size_of(scheme, sizes, "head_dim", 0);
  request.positions = rows.ids;
  request.times = rows.times;
  request.axes = rows.axes;
  request.parameters = read_parameters(scheme, parameters);
  if (given_weights.is_none()) return;
  weights = read_weights(scheme, given_weights);
  request.weights = &weights;
}

}  // namespace sextant::python
