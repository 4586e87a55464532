// The tables of schemes as scripts get them: one exact form for every kind of scheme.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/schemes/scheme.h"
#include "streams/table_output.h"

namespace sextant::app {

// Whose rotation: that of queries, or that of keys where it is another one (xPos, temperature).
enum class Side { queries, keys };

struct SchemeForm {
  // added: [length, width]; rotated: [length, pairs, 2] of cosine and sine, the attention factor
  // multiplied in, one axis [heads] before where heads differ; distance bias: [heads, 2 length -
  // 1], index = key - query + length - 1; indexed bias: [heads, length, length]. -infinity hides.
  Tensor<double> values;
  // The same where only rows can be written: rotations as the cosines of all pairs, then their
  // sines; several heads below one another.
  Tensor<double> rows;
  std::int64_t rows_per_head = 0;  // 0: rows are not of heads
  std::string row_name = "Position", column_name = "Dimension";
  std::int64_t first_column = 0;
  std::string color_name = "Value";
  bool biases = false;  // of one sign, they are drawn as magnitudes
};

// Makes the table of a scheme in its exact form. Throws Error, naming `where`.scheme, for kinds
// that have no table: none, and content terms, which depend on q and k.
SchemeForm form_of(const Scheme& scheme, const SchemeRequest& request, Side side,
                   const std::string& where);

// Throws that Error for a content term, before anything is asked of its sizes.
[[noreturn]] void refuse_content(const Scheme& scheme, const std::string& where);

// Title aside, what is to be said of the rows, and how they are drawn: indexed biases as one map
// per head, up to 8, all others as one map. Borrows `form`.
TableNames names_of(const SchemeForm& form);

// The exact form as .npy and JSON, its rows in all other formats.
template <class T>
void write_form(const SchemeForm& form, const TableNames& names, const Output& output,
                Format format);

// Every parameter as it is written on the command line, defaults included.
Json resolved_parameters(const Scheme& scheme,
                         const std::map<std::string, std::string>& parameters);

}  // namespace sextant::app
