// Checks of position ids, shared by the schemes whose tables have one row per position.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/sines/sine_table.h"

namespace sextant {

// first .. first + length - 1; throws Error naming the argument when length < 0 or a position is
// beyond +-2^53.
kernels::Positions consecutive_positions(std::int64_t first, std::int64_t length,
                                         std::string_view where_first,
                                         std::string_view where_length);
// Borrows the list; throws Error when a position is beyond +-2^53.
kernels::Positions listed_positions(std::span<const std::int64_t> positions,
                                    std::string_view where);

// Throws Error where a table of so many rows and columns has 2^60 numbers or more; `columns_are`
// "width".
void check_table_size(std::string_view where, std::int64_t rows, std::int64_t columns,
                      std::string_view columns_are = "width");

// Every position written out.
std::vector<std::int64_t> listed(const kernels::Positions& positions);

}  // namespace sextant
