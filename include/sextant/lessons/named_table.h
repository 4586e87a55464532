// Reads tables of numbers with named rows and columns, as spreadsheets export them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"

namespace sextant {

struct NamedTable {
  std::vector<std::string> rows, columns;
  Tensor<double> values;      // [rows, columns], finite
  std::string row_name = {};  // the kind of rows; may be empty
};

// Parses comma-separated values (RFC 4180): the first row names the columns, and its first field
// names the kind of rows; the first field of every other row is its name. Fields may be quoted,
// with "" for a quote; spaces around them are dropped; empty lines are skipped. UTF-8, with or
// without a byte order mark. Throws an Error with `where` and the line for text that is not UTF-8,
// an empty or duplicate name, a row of another length, a field that is no finite number, a quote
// that does not end, and for a table without rows or columns.
NamedTable parse_named_table(std::string_view text, std::string_view where);

}  // namespace sextant
