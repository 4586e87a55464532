// The rules of `--ids`: lists of position ids by name, as sextant/schemes/ids/positions.h makes
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::app {

// Ids of rows, whether they come from a file or not.
struct RowIds {
  std::vector<std::int64_t> ids;  // [rows, axes]
  std::int64_t axes = 1;
  std::vector<double> times{};  // real ones, in place of ids
};

// "packed:0,5,9", "grid:4x6", "video:2x4x6", "patches:224x224/16", "mrope:text=5,image=2x3", or
// "padded:mask.npy" and "fairseq:mask.npy".
struct IdsRule {
  std::string text;  // as it was given; empty: none
  std::string mask;  // the file of the mask, where the rule reads one
  RowIds rows;       // of a rule that reads none

  bool is_given() const noexcept { return !text.empty(); }
};

// Throws Error naming `where` for another rule, and for numbers out of their ranges.
IdsRule parse_ids_rule(const std::string& text, const std::string& where);

// The ids, of a mask [batch, length] those of all its rows. Throws Error naming a file that is no
// mask.
RowIds ids_of(const IdsRule& rule);

// The call of sextant.positions that makes the same.
std::string python_ids(const IdsRule& rule);

}  // namespace sextant::app
