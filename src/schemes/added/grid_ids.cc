// One id per patch, taken apart.
#include "schemes/added/grid_ids.h"

#include <algorithm>

#include "sextant/core/error.h"

namespace sextant {
namespace {

// The smallest n >= 1 with n^dimensions >= count.
std::int64_t root_up(std::int64_t count, int dimensions) {
  std::int64_t n = 1;
  const auto power = [&] {
    double product = 1;
    for (int i = 0; i < dimensions; ++i) product *= static_cast<double>(n);
    return product;
  };
  while (power() < static_cast<double>(count)) ++n;
  return n;
}

}  // namespace

std::int64_t grid_side(const descriptors::Parameters& given, std::string_view name,
                       std::int64_t patches, int dimensions) {
  if (given.text(name) == "auto") return root_up(patches, dimensions);
  const std::int64_t side = given.integer(name);
  if (side < 1) throw Error(given.where(name), "must be 1 or more, got " + std::to_string(side));
  return side;
}

std::vector<std::int64_t> grid_ids_of(const SchemeRequest& request, std::string_view scheme,
                                      std::span<const std::int64_t> inner) {
  const auto axes = static_cast<std::int64_t>(inner.size()) + 1;
  if (request.axes == axes) return {request.positions.begin(), request.positions.end()};
  if (request.axes != 1) {
    throw Error(scheme, "must get 1 or " + std::to_string(axes) + " ids per row, got " +
                            std::to_string(request.axes));
  }
  std::vector<std::int64_t> ids(static_cast<std::size_t>(request.rows() * axes));
  for (std::int64_t row = 0; row < request.rows(); ++row) {
    std::int64_t rest = request.positions[static_cast<std::size_t>(row)];
    for (std::int64_t axis = axes - 1; axis > 0; --axis) {
      const std::int64_t side = inner[static_cast<std::size_t>(axis - 1)];
      const std::int64_t remainder = (rest % side + side) % side;
      ids[static_cast<std::size_t>(row * axes + axis)] = remainder;
      rest = rest / side - (rest % side < 0 ? 1 : 0);
    }
    ids[static_cast<std::size_t>(row * axes)] = rest;
  }
  return ids;
}

}  // namespace sextant
