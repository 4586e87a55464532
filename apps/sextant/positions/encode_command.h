// Declares the options of `sextant encode`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calls/printed_call.h"
#include "options/model_config_option.h"
#include "options/options.h"
#include "options/scheme_choice.h"
#include "positions/ids_rule.h"
#include "sextant/figures/scheme_array.h"
#include "streams/table_output.h"

namespace sextant::app {

struct Encode {
  std::optional<std::int64_t> length;
  std::optional<std::int64_t> width, head_dim;
  std::int64_t heads = 8;
  std::int64_t first = 0;
  std::optional<Positions> positions;
  std::string ids_file;  // [rows, axes]
  IdsRule ids;
  std::optional<figures::Side> side;
  std::string dtype = "float32";
  int threads = 0;
  SchemeChoice choice;
  ModelConfigOption model;
  std::optional<ModelLayer> layer;  // of the model
  Output output;
  CallChoice call;
};

// Throws Error for real ones where the scheme takes none.
RowIds row_ids(const Encode& encode);

// Colour blocks for a person, csv for a program, unless a format was asked for; T: the type of the
// result.
template <class T>
void finish_table(View<const T> table, const TableNames& names, const Encode& encode);

// Puts the scheme, parameters and sizes of the model's layer into the rest. Throws Error for a
// parameter that was given as well.
void take_model(Encode& encode);
// Prints a model's layer that has no table, or whose table is learned and was not given, as JSON if
// that was requested, and throws Error otherwise. Returns false if there is a table.
bool tell_model(const Encode& encode);

// The exact form of any scheme's table, rounded from float64 to --dtype.
void encode_scheme(const Encode& encode);

}  // namespace sextant::app
