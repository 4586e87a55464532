// Tables that others stored, and how finely: what identify_array() is asked about.
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
  std::optional<DType> dtype;  // in which it was stored, where the file says so
};

// The bytes of a .npy file of any float type, or numbers as text. `stored_as` says what raw uint16
// are (bfloat16), or to which type the numbers were rounded before they were stored. Axes of length
// one are dropped until two are left, as in a model's [1, length, width]. Throws Error naming
// `where` for what is no table, and for a type that is no float.
StoredTable parse_table(std::string_view bytes, const std::string& where,
                        std::optional<DType> stored_as = {});
// The same of any shape, and of whole numbers too, whose unit_roundoff is that of float64. Complex
// numbers (.npy) get an axis of two behind the others, real and imaginary part.
StoredTable parse_any_array(std::string_view bytes, const std::string& where,
                            std::optional<DType> stored_as = {});

// Rows of numbers, separated by commas, semicolons, tabs or spaces; empty lines and lines that
// start with '#' are skipped. The unit roundoff is read off the digits: at most nine significant
// ones are float32, and few decimals are their own roundoff. Throws Error that names the line.
StoredTable parse_number_table(std::string_view text, std::string_view where);

// Half a unit in the last place of numbers in [1, 2): 2^-53, 2^-24, 2^-11, 2^-8. Throws Error for
// types that are no floats.
double unit_roundoff(DType dtype);

}  // namespace sextant
