// ALiBi on images: slopes times distances on the grid.
#include "sextant/schemes/indexed/alibi_2d.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "schemes/descriptors.h"
#include "schemes/indexed/grid_bias.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/distance/alibi_slopes.h"

namespace sextant {

std::shared_ptr<const IndexedBias> alibi_2d(const Alibi2d& options,
                                            std::span<const std::int64_t> positions) {
  if (!(options.max_bias >= 0 && options.max_bias <= 1000)) {
    throw Error("alibi_2d.max_bias", "must be in 0 .. 1000, got " + shortest(options.max_bias));
  }
  detail::PositionRuns ids("alibi_2d", positions);
  const detail::Grid grid =
      detail::grid_of("alibi_2d", options.rows, options.columns, ids, options.heads);
  const std::vector<double> slopes = alibi_slopes(options.heads, options.max_bias);
  Tensor<double> table({grid.offsets(), options.heads});
  for (std::int64_t offset = 0; offset < grid.offsets(); ++offset) {
    const std::int64_t down = offset / (2 * grid.columns - 1) - (grid.rows - 1);
    const std::int64_t across = offset % (2 * grid.columns - 1) - (grid.columns - 1);
    const double distance = std::hypot(static_cast<double>(down), static_cast<double>(across));
    for (std::int64_t head = 0; head < options.heads; ++head) {
      table(offset, head) = -slopes[static_cast<std::size_t>(head)] * distance;
    }
  }
  return std::make_shared<detail::GridBias>(grid, std::move(ids), table, false);
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"rows", "0", "0 .. 2^28", "of the grid; 0: as many as the largest id needs"},
    {"columns", "0", "0 .. 2^28", "of the grid; 0: the same, a square when both are 0"},
    {"max_bias", "8", "0 .. 1000", "the last head of a power of two has slope 2^-max_bias"},
};

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kAlibi2d, request);
  Alibi2d options;
  options.heads = request.heads;
  options.rows = given.integer("rows");
  options.columns = given.integer("columns");
  options.max_bias = given.number("max_bias");
  detail::runs_of("alibi_2d", request);  // refuses several axes
  return alibi_2d(options, request.positions);
}

// Biases go by the offset in rows and columns, so that only the columns matter.
std::int64_t length_class(const SchemeRequest& request, std::int64_t length) {
  const Parameters given(kAlibi2d, request);
  return detail::grid_of("alibi_2d", given.integer("rows"), given.integer("columns"), length,
                         request.heads)
      .columns;
}

}  // namespace

constinit const Scheme kAlibi2d = {
    .name = "alibi_2d",
    .kind = SchemeKind::indexed_bias,
    .idea = "Lowers a score by a slope times the distance of two patches on the image's grid.",
    .paper = "Fuller et al. 2023, 2311.00566; Press et al. 2021, 2108.12409",
    .parameters = kParameters,
    .make = make,
    .length_class = length_class,
};

}  // namespace descriptors
}  // namespace sextant
