// Tables of numbers with named rows and columns, as spreadsheets export them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"

namespace sextant {

struct NamedTable {
  std::vector<std::string> rows, columns;
  Tensor<double> values;      // [rows, columns], finite
  std::string row_name = {};  // what the rows are; may be empty
};

// Comma-separated values (RFC 4180): the first row names the columns, its first field says what the
// rows are; the first field of every other row is its name. Fields may be quoted, with "" for a
// quote; spaces around them are dropped; empty lines are skipped. UTF-8, with or without a byte
// order mark. Throws Error naming `where` and the line for text that is not UTF-8, a name that is
// empty or there twice, a row of another length, a field that is no finite number, a quote that
// does not end, and for a table without rows or columns.
NamedTable parse_named_table(std::string_view text, std::string_view where);

}  // namespace sextant
