// Sides of grids, and the cells of patches.
#include "schemes/ids/grid.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "sextant/core/error.h"

namespace sextant {

std::int64_t min_side(std::int64_t cells, int dimensions) {
  const auto count = static_cast<double>(cells);
  const auto holds = [&](std::int64_t side) {
    double product = 1;
    for (int i = 0; i < dimensions; ++i) product *= static_cast<double>(side);
    return product >= count;
  };
  // The root may be rounded up.
  const double root = std::pow(std::max(count, 1.0), 1.0 / dimensions);
  std::int64_t side = std::max<std::int64_t>(1, static_cast<std::int64_t>(root) - 1);
  while (!holds(side)) ++side;
  return side;
}

std::int64_t min_side(std::span<const std::int64_t> ids, std::int64_t axes, std::int64_t axis) {
  std::int64_t last = 0;
  for (auto i = static_cast<std::size_t>(axis); i < ids.size(); i += static_cast<std::size_t>(axes))
    last = std::max(last, ids[i]);
  return last + 1;
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

void check_one_id(const SchemeRequest& request, std::string_view scheme) {
  if (request.axes == 1) return;
  throw Error(std::string(scheme) + ".positions",
              "must have one id per token, got " + std::to_string(request.axes));
}

}  // namespace sextant
