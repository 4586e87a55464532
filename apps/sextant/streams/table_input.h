// Tables that come from files.
#pragma once

#include <optional>
#include <string>

#include "options/arguments.h"
#include "options/options.h"

namespace sextant::app {

// A table from a file, and the type it was stored in when the file says so.
struct StoredTable {
  Tensor<double> values;  // [rows, columns], or of any shape
  double unit_roundoff = 0;
  std::optional<DType> dtype;
};

// A .npy file of any float type, or numbers as text. `stored_as` (may be empty) says what raw
// uint16 are, or to which type the numbers were rounded before they were stored. Axes of length one
// are dropped until two are left, as in a model's [1, length, width]. Throws Error for what is no
// table.
StoredTable load_table(const std::string& path, const std::string& stored_as);

// The same of any shape, and of whole numbers too, whose unit_roundoff is that of float64.
StoredTable load_any_array(const std::string& path, const std::string& stored_as);

}  // namespace sextant::app
