// Checks of position ids.
#include "schemes/added/sinusoidal_positions.h"

#include <string>

#include "core/numbers/max_position.h"
#include "sextant/core/error.h"

namespace sextant {

using kernels::Positions;

Positions consecutive_positions(std::int64_t first, std::int64_t length,
                                std::string_view where_first, std::string_view where_length) {
  if (length < 0) throw Error(where_length, "must be 0 or more, got " + std::to_string(length));
  if (first < -kMaxPosition || first > kMaxPosition) {
    throw Error(where_first, "must be within +-2^53, got " + std::to_string(first));
  }
  if (length > 0 && first > kMaxPosition - (length - 1)) {
    throw Error(where_length, "must keep the last position at or below 2^53, got " +
                                  std::to_string(length) + " rows from " + std::to_string(first));
  }
  return {first, length, nullptr};
}

Positions listed_positions(std::span<const std::int64_t> positions, std::string_view where) {
  for (const std::int64_t position : positions) {
    if (position < -kMaxPosition || position > kMaxPosition) {
      throw Error(where, "must be within +-2^53, got " + std::to_string(position));
    }
  }
  return {0, static_cast<std::int64_t>(positions.size()), positions.data()};
}

void check_table_size(std::string_view where, std::int64_t rows, std::int64_t columns,
                      std::string_view columns_are) {
  if (rows <= (std::int64_t{1} << 60) / columns) return;
  throw Error(where, "times " + std::string(columns_are) + " must be below 2^60, got " +
                         std::to_string(rows) + " x " + std::to_string(columns));
}

std::vector<std::int64_t> listed(const Positions& positions) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(positions.count));
  for (std::int64_t row = 0; row < positions.count; ++row) result[row] = positions[row];
  return result;
}

}  // namespace sextant
