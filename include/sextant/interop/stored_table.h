// Reads stored tables and their precision, for identify_array().
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

struct StoredTable {
  Tensor<double> values;       // [rows, columns], or of any shape
  double unit_roundoff = 0;    // relative to numbers of size one
  std::optional<DType> dtype;  // the stored type, if the file names it
};

// Parses the bytes of a .npy file of any float type, or numbers as text. `stored_as` is the type of
// raw uint16 (bfloat16), or the type to which the numbers were rounded before they were stored.
// Axes of length one are dropped until two are left, as in a model's [1, length, width]. Throws an
// Error with `where` if the data is no table, and for a type that is no float.
StoredTable parse_table(std::string_view bytes, const std::string& where,
                        std::optional<DType> stored_as = {});
// Parses an array of any shape, also of whole numbers, whose unit_roundoff is that of float64.
// Complex numbers (.npy) get an axis of two after the others, for real and imaginary part.
StoredTable parse_any_array(std::string_view bytes, const std::string& where,
                            std::optional<DType> stored_as = {});

// Parses rows of numbers, separated by commas, semicolons, tabs or spaces; empty lines and lines
// that start with '#' are skipped. The digits determine the unit roundoff: at most nine significant
// ones are float32, and few decimals have their own roundoff. Throws an Error with the line.
StoredTable parse_number_table(std::string_view text, std::string_view where);

// Returns half a unit in the last place of numbers in [1, 2): 2^-53, 2^-24, 2^-11, 2^-8. Throws
// Error for types that are no floats.
double unit_roundoff(DType dtype);

}  // namespace sextant
