// ALiBi on images: slopes times distances on the grid.
#include "sextant/schemes/indexed/alibi_2d.h"

#include <cmath>
#include <utility>
#include <vector>

#include "core/threads/interruption.h"
#include "schemes/definition.h"
#include "schemes/indexed/grid_bias.h"
#include "sextant/schemes/distance/alibi_slopes.h"

namespace sextant {

template <>
inline constexpr auto kFields<Alibi2d> = std::tuple{
    field(&Alibi2d::heads, "heads", kHeads, "query heads").of_request(),
    field(&Alibi2d::rows, "rows", schemes_detail::kGridSide,
          "rows of the grid; auto: the fewest that contain the largest id"),
    field(&Alibi2d::columns, "columns", schemes_detail::kGridSide,
          "columns of the grid; auto: the fewest that contain the largest id, a square "
          "if rows is auto too"),
    field(&Alibi2d::max_bias, "max_bias", NumberRange{0, 1000},
          "slope of the last head if the number of heads is a power of two: 2^-max_bias")};

std::shared_ptr<const ScoreTerm> alibi_2d(const Alibi2d& options,
                                          std::span<const std::int64_t> positions) {
  check_fields("alibi_2d", options);
  schemes_detail::PositionRuns ids("alibi_2d", positions);
  const schemes_detail::Grid grid =
      schemes_detail::grid_of("alibi_2d", options.rows, options.columns, ids, options.heads);
  const std::vector<double> slopes = alibi_slopes(options.heads, options.max_bias);
  Tensor<double> table({grid.offsets(), options.heads});
  for (std::int64_t offset = 0; offset < grid.offsets(); ++offset) {
    if (offset % 1024 == 0) check_interruption();
    const std::int64_t down = offset / (2 * grid.columns - 1) - (grid.rows - 1);
    const std::int64_t across = offset % (2 * grid.columns - 1) - (grid.columns - 1);
    const double distance = std::hypot(static_cast<double>(down), static_cast<double>(across));
    for (std::int64_t head = 0; head < options.heads; ++head) {
      table(offset, head) = -slopes[static_cast<std::size_t>(head)] * distance;
    }
  }
  return std::make_shared<schemes_detail::GridBias>(grid, std::move(ids), table, false);
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, Alibi2d> kDefinition = {
    .name = "alibi_2d",
    .title = "ALiBi 2-D",
    .kind = SchemeKind::indexed_bias,
    .idea = "Lowers a score by a slope times the distance of two patches on the image's grid.",
    .paper = "Fuller et al. 2023, 2311.00566; Press et al. 2021, 2108.12409",
    .make = [](const auto& of) -> SchemeTable { return alibi_2d(of, of.ids()); },
    // Biases depend on offsets in rows and columns, so that only the columns matter.
    .length_class =
        [](const auto& of, std::int64_t length) {
          return schemes_detail::grid_of("alibi_2d", of.rows, of.columns, length, of.heads).columns;
        },
    .max_length = [](const auto& of) { return schemes_detail::cells_of(of.rows, of.columns); },
};

}  // namespace

constinit const Scheme kAlibi2d = scheme_of<kAlibi2d, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
