// Grids of patches: default sides, and one id per patch split into coordinates.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/schemes/scheme.h"

namespace sextant {

inline constexpr IntegerRange kSides{1, 1 << 30};

// The smallest side, at least 1, of a square or a cube (`dimensions`) with room for this many
// cells, up to 2^53.
std::int64_t min_side(std::int64_t cells, int dimensions = 2);
// The smallest side, at least 1, with room for the ids of one axis of a list [rows, axes].
std::int64_t min_side(std::span<const std::int64_t> ids, std::int64_t axes, std::int64_t axis);

// [rows, inner.size() + 1]: the ids of a request of that many axes as they are, and one id per row
// split, the innermost axis last: id = (outer * inner[0] + middle) * inner[1] + innermost,
// with floors for ids below 0. Throws Error for another number of axes.
std::vector<std::int64_t> grid_ids_of(const SchemeRequest& request, std::string_view scheme,
                                      std::span<const std::int64_t> inner);

// Throws Error("scheme.positions") unless the rows of the request have one id each.
void check_one_id(const SchemeRequest& request, std::string_view scheme);

}  // namespace sextant
