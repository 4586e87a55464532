// Reads the request for a scheme from Python: ids, sizes, parameters and weights by name.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "arguments.h"
#include "sextant/schemes/scheme.h"

namespace sextant::python {

// The first argument of every scheme: a length or ids.
struct Positions {
  std::vector<std::int64_t> ids;
  std::vector<double> times;  // real numbers, in place of ids
  std::int64_t axes = 1, length = 0;
  bool is_range = false;  // 0 .. length - 1
};
// With `as_range` a length is left as such. Real numbers where the scheme takes them.
Positions read_positions(const Scheme& scheme, nb::handle value, bool as_range);

// A request and the data it refers to. `weights` may be None: the initial ones.
struct PyRequest {
  PyRequest(const Scheme& scheme, Positions rows, const nb::dict& sizes, const nb::dict& parameters,
            nb::handle weights);
  PyRequest(const PyRequest&) = delete;
  PyRequest& operator=(const PyRequest&) = delete;

  Positions rows;
  SchemeWeights weights;
  SchemeRequest request;
};

}  // namespace sextant::python
