// Swin's biases: a table by the offset of two patches in a window.
#include "sextant/schemes/indexed/swin.h"

#include <string>
#include <utility>

#include "schemes/descriptors.h"
#include "schemes/distance/distances.h"
#include "schemes/indexed/grid_bias.h"
#include "schemes/initial_weights.h"
#include "schemes/weight_fields.h"
#include "sextant/core/error.h"

namespace sextant {

template <>
inline constexpr auto kFields<Swin> =
    std::tuple{field(&Swin::rows, "rows", schemes_detail::kGridSide,
                     "of the window; auto: as many as the largest id needs"),
               field(&Swin::columns, "columns", schemes_detail::kGridSide,
                     "of the window; auto: likewise, a square when both are")};
template <>
inline constexpr auto kWeights<SwinWeights> =
    std::tuple{weight(&SwinWeights::table, "table", "[(2 rows - 1) (2 columns - 1), heads]",
                      "by query minus key; initially normal, deviation 0.02")};

namespace {

std::int64_t heads_of(const Tensor<double>& table) { return table.rank() == 2 ? table.size(1) : 1; }

void check(const Tensor<double>& table, const schemes_detail::Grid& grid) {
  if (table.shape() != Shape({grid.offsets(), heads_of(table)})) {
    throw Error("swin.table", "must be [" + std::to_string(grid.offsets()) +
                                  ", heads] for a window of " + std::to_string(grid.rows) + " x " +
                                  std::to_string(grid.columns) + ", got " +
                                  table.shape().to_string());
  }
  schemes_detail::check_finite("swin", "table", table);
}

}  // namespace

std::shared_ptr<const IndexedBias> swin(const Swin& options, const SwinWeights& weights,
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

Swin window_of(const SchemeRequest& request) {
  const Parameters given(kSwin, request);
  schemes_detail::runs_of("swin", request);  // refuses several axes
  return swin_window(given.options<Swin>(), request.positions);
}

WeightSizes weight_sizes(const SchemeRequest& request) {
  const Swin window = window_of(request);
  return {
      {"table", {schemes_detail::Grid{*window.rows, *window.columns}.offsets(), request.heads}}};
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  InitialWeights weights(kSwin, request);
  weights.normal("table", 0.02);
  return weights.take();
}

std::int64_t length_class(const SchemeRequest& request, std::int64_t length) {
  const auto options = Parameters(kSwin, request).options<Swin>();
  const schemes_detail::Grid grid =
      schemes_detail::grid_of("swin", options.rows, options.columns, length, request.heads);
  return (grid.rows << 29) + grid.columns;  // sides are 2^28 at most
}

// The weights are those of one window.
std::int64_t max_length(const SchemeRequest& request) {
  const Swin window = window_of(request);
  return *window.rows * *window.columns;
}

SchemeTable make(const SchemeRequest& request) {
  const auto weights = weights_of<SwinWeights>(Parameters(kSwin, request));
  return swin(window_of(request), weights, request.positions);
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const auto weights = weights_of<SwinWeights>(Parameters(kSwin, request));
  return named(swin_backward(window_of(request), weights, gradient));
}

}  // namespace

constinit const Scheme kSwin = {
    .name = "swin",
    .title = "Swin",
    .kind = SchemeKind::indexed_bias,
    .idea = "Adds a learned number per head and offset of two patches in a window of an image.",
    .paper = "Liu et al. 2021, 2103.14030",
    .parameters = parameters_of<Swin, InitialSeed>,
    .make = make,
    .weights = kWeightList<SwinWeights>,
    .weight_sizes = weight_sizes,
    .initial_weights = initial_weights,
    .backward = backward,
    .length_class = length_class,
    .max_length = max_length,
};

}  // namespace descriptors
}  // namespace sextant
