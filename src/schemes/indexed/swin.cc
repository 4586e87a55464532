// Swin's biases: a table by the offset of two patches in a window.
#include "sextant/schemes/indexed/swin.h"

#include <string>
#include <utility>

#include "schemes/descriptors.h"
#include "schemes/distance/distances.h"
#include "schemes/indexed/grid_bias.h"
#include "schemes/initial_weights.h"
#include "sextant/core/error.h"

namespace sextant {

std::shared_ptr<const IndexedBias> swin(const Swin& options, View<const double> table,
                                        std::span<const std::int64_t> positions) {
  detail::PositionRuns ids("swin", positions);
  const std::int64_t heads = table.rank() == 2 ? table.size(1) : 1;
  const detail::Grid grid = detail::grid_of("swin", options.rows, options.columns, ids, heads);
  if (table.shape() != Shape({grid.offsets(), heads})) {
    throw Error("swin.table", "must be [" + std::to_string(grid.offsets()) +
                                  ", heads] for a window of " + std::to_string(grid.rows) + " x " +
                                  std::to_string(grid.columns) + ", got " +
                                  table.shape().to_string());
  }
  detail::check_finite("swin", "table", table);
  return std::make_shared<detail::GridBias>(grid, std::move(ids), table, true);
}

Swin swin_window(const Swin& options, std::span<const std::int64_t> positions) {
  const detail::PositionRuns ids("swin", positions);
  const detail::Grid grid = detail::grid_of("swin", options.rows, options.columns, ids, 1);
  return {grid.rows, grid.columns};
}

Tensor<double> swin_backward(const Swin& options, std::int64_t heads, View<const double> gradient) {
  if (options.rows < 1 || options.columns < 1) {
    throw Error("swin.rows", "and columns must be given, got " + std::to_string(options.rows) +
                                 " x " + std::to_string(options.columns));
  }
  const detail::PositionRuns none("swin", {});
  return detail::grid_gradient(
      "swin", detail::grid_of("swin", options.rows, options.columns, none, heads), heads, gradient);
}

namespace descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"rows", "0", "0 .. 2^28", "of the window; 0: as many as the largest id needs"},
    {"columns", "0", "0 .. 2^28", "of the window; 0: likewise, a square when both are 0"},
    {"seed", "0", "0 .. 2^32 - 1", "of the initial table"},
};
constexpr SchemeWeight kWeights[] = {
    {"table", "[(2 rows - 1) (2 columns - 1), heads]",
     "by query minus key; initially normal, deviation 0.02"},
};

Swin window_of(const Parameters& given, const SchemeRequest& request) {
  detail::runs_of("swin", request);  // refuses several axes
  return swin_window({given.integer("rows"), given.integer("columns")}, request.positions);
}

Shape shape_of(const Swin& window, const SchemeRequest& request) {
  return {detail::Grid{window.rows, window.columns}.offsets(), request.heads};
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  const Parameters given(kSwin, request);
  InitialWeights random(given, request);
  SchemeWeights weights;
  weights.emplace("table", random.normal(shape_of(window_of(given, request), request), 0.02));
  return weights;
}

std::int64_t length_class(const SchemeRequest& request, std::int64_t length) {
  const Parameters given(kSwin, request);
  const detail::Grid grid = detail::grid_of("swin", given.integer("rows"), given.integer("columns"),
                                            length, request.heads);
  return (grid.rows << 29) + grid.columns;  // sides are 2^28 at most
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kSwin, request);
  const Swin window = window_of(given, request);
  return swin(window, given.weight("table", shape_of(window, request)), request.positions);
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kSwin, request);
  SchemeWeights gradients;
  gradients.emplace("table", swin_backward(window_of(given, request), request.heads, gradient));
  return gradients;
}

}  // namespace

constinit const Scheme kSwin = {
    .name = "swin",
    .kind = SchemeKind::indexed_bias,
    .idea = "Adds a learned number per head and offset of two patches in a window of an image.",
    .paper = "Liu et al. 2021, 2103.14030",
    .parameters = kParameters,
    .make = make,
    .weights = kWeights,
    .initial_weights = initial_weights,
    .backward = backward,
    .length_class = length_class,
};

}  // namespace descriptors
}  // namespace sextant
