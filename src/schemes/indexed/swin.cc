// Swin's biases: a table by the offset of two patches in a window.
#include "sextant/schemes/indexed/swin.h"

#include <string>
#include <utility>

#include "schemes/definition.h"
#include "schemes/indexed/grid_bias.h"

namespace sextant {

template <>
inline constexpr auto kFields<Swin> =
    std::tuple{field(&Swin::rows, "rows", schemes_detail::kGridSide,
                     "rows of the window; auto: the fewest that contain the largest id"),
               field(&Swin::columns, "columns", schemes_detail::kGridSide,
                     "columns of the window; auto: the fewest that contain the largest id, a "
                     "square if rows is auto too")};
template <>
inline constexpr auto kWeights<SwinWeights> =
    std::tuple{weight(&SwinWeights::table, "table", "[(2 rows - 1) (2 columns - 1), heads]",
                      "row by offset, query minus key; initially normal, standard deviation 0.02")};

namespace {

std::int64_t heads_of(const Tensor<double>& table) { return table.rank() == 2 ? table.size(1) : 1; }

void check(const Tensor<double>& table, const schemes_detail::Grid& grid) {
  schemes_detail::check_weight(
      "swin", "table", table, {grid.offsets(), "heads"},
      " for a window of " + std::to_string(grid.rows) + " x " + std::to_string(grid.columns));
}

}  // namespace

std::shared_ptr<const ScoreTerm> swin(const Swin& options, const SwinWeights& weights,
                                      std::span<const std::int64_t> positions) {
  check_fields("swin", options);
  schemes_detail::PositionRuns ids("swin", positions);
  const schemes_detail::Grid grid =
      schemes_detail::grid_of("swin", options.rows, options.columns, ids, heads_of(weights.table));
  check(weights.table, grid);
  return std::make_shared<schemes_detail::GridBias>(grid, std::move(ids), weights.table, true);
}

Swin swin_window(const Swin& options, std::span<const std::int64_t> positions) {
  check_fields("swin", options);
  const schemes_detail::PositionRuns ids("swin", positions);
  const schemes_detail::Grid grid =
      schemes_detail::grid_of("swin", options.rows, options.columns, ids, 1);
  return {grid.rows, grid.columns};
}

SwinWeights swin_backward(const Swin& options, const SwinWeights& weights,
                          View<const double> gradient) {
  check_fields("swin", options);
  const std::int64_t heads = heads_of(weights.table);
  const schemes_detail::Grid grid =
      schemes_detail::given_grid("swin", options.rows, options.columns, heads);
  check(weights.table, grid);
  return {schemes_detail::grid_gradient("swin", grid, heads, gradient)};
}

namespace descriptors {
namespace {

using Of = Given<Swin>;

Swin window_of(const Of& of) { return swin_window(of, of.ids()); }

constexpr Definition<SwinWeights, Swin> kDefinition = {
    .name = "swin",
    .title = "Swin",
    .kind = SchemeKind::indexed_bias,
    .idea = "Adds a learned number per head and offset of two patches in a window of an image.",
    .paper = "Liu et al. 2021, 2103.14030",
    .sizes = [](const Of& of) -> WeightSizes {
      const Swin window = window_of(of);
      return {{"table",
               {schemes_detail::Grid{*window.rows, *window.columns}.offsets(), of.request.heads}}};
    },
    .initial = [](const Of&, InitialWeights& to) { to.normal("table", 0.02); },
    .make = [](const Of& of, const auto& weights) -> SchemeTable {
      return swin(window_of(of), weights, of.request.positions);
    },
    .backward = [](const Of& of, const auto& weights,
                   auto gradient) { return swin_backward(window_of(of), weights, gradient); },
    .length_class =
        [](const Of& of, std::int64_t length) {
          return schemes_detail::class_of_grid("swin", of.rows, of.columns, length,
                                               of.request.heads);
        },
    // The weights are those of one window.
    .max_length =
        [](const Of& of) {
          const Swin window = window_of(of);
          return *window.rows * *window.columns;
        },
};

}  // namespace

constinit const Scheme kSwin = scheme_of<kSwin, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
