// What arrays of tests are found to be.
#pragma once

#include <cmath>
#include <string>

#include "schemes/stored_types.h"
#include "sextant/core/numbers.h"
#include "sextant/identify/identify.h"

namespace sextant {

inline Identification identified(const Tensor<double>& table, const Type& type = kFloat64) {
  return identify_array(table.view(), type.unit_roundoff);
}

inline double number(const Identification& found, const std::string& name) {
  const auto known = found.parameters.find(name);
  return known == found.parameters.end() ? NAN : parse_double(known->second, name);
}

}  // namespace sextant
