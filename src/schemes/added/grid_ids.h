// From one id per patch to its row and column, or frame, row and column.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schemes/descriptors.h"
#include "sextant/schemes/scheme.h"

namespace sextant {

// The number of a parameter `name`, at least 1; "auto" is the smallest side whose `dimensions`-th
// power holds this many patches.
std::int64_t grid_side(const descriptors::Parameters& given, std::string_view name,
                       std::int64_t patches, int dimensions);

// [rows, inner.size() + 1]: the ids of a request of that many axes as they are, and one id per row
// taken apart, the innermost axis last: id = (outer * inner[0] + middle) * inner[1] + innermost,
// with floors for ids below 0. Throws Error for another number of axes.
std::vector<std::int64_t> grid_ids_of(const SchemeRequest& request, std::string_view scheme,
                                      std::span<const std::int64_t> inner);

}  // namespace sextant
