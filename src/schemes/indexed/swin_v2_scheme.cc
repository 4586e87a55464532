// How Swin-v2's biases present themselves in the list of schemes; they are made by swin_v2().
#include <cmath>
#include <string>
#include <utility>

#include "schemes/descriptors.h"
#include "schemes/indexed/grid_bias.h"
#include "schemes/initial_weights.h"
#include "sextant/core/error.h"
#include "sextant/schemes/indexed/swin_v2.h"

namespace sextant::descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"rows", "0", "0 .. 2^28", "of the window; 0: as many as the largest id needs"},
    {"columns", "0", "0 .. 2^28", "of the window; 0: likewise, a square when both are 0"},
    {"pretrained_rows", "0", "0, 2 .. 2^28", "of the window in training; 0: this window"},
    {"pretrained_columns", "0", "0, 2 .. 2^28", "likewise"},
    {"hidden", "512", "1 .. 2^16", "units of the network"},
    {"seed", "0", "0 .. 2^32 - 1", "of the initial weights"},
};
constexpr SchemeWeight kWeights[] = {
    {"w1", "[hidden, 2]", "of the offset in rows and columns; initially uniform, +-1/sqrt(2)"},
    {"b1", "[hidden]", "initially uniform, +-1/sqrt(2)"},
    {"w2", "[heads, hidden]", "initially uniform, +-1/sqrt(hidden)"},
};

SwinV2 options_of(const Parameters& given, const SchemeRequest& request) {
  const detail::PositionRuns ids = detail::runs_of("swin_v2", request);
  const detail::Grid grid = detail::grid_of("swin_v2", given.integer("rows"),
                                            given.integer("columns"), ids, request.heads);
  return {grid.rows, grid.columns, given.integer("pretrained_rows"),
          given.integer("pretrained_columns")};
}

std::int64_t hidden_of(const Parameters& given) {
  const std::int64_t hidden = given.integer("hidden");
  if (hidden < 1 || hidden > (1 << 16)) {
    throw Error("swin_v2.hidden", "must be in 1 .. 2^16, got " + std::to_string(hidden));
  }
  return hidden;
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  const Parameters given(kSwinV2, request);
  InitialWeights random(given, request);
  const std::int64_t hidden = hidden_of(given);
  const double in = std::sqrt(0.5), out = 1 / std::sqrt(static_cast<double>(hidden));
  SchemeWeights weights;
  weights.emplace("w1", random.uniform({hidden, 2}, -in, in));
  weights.emplace("b1", random.uniform({hidden}, -in, in));
  weights.emplace("w2", random.uniform({request.heads, hidden}, -out, out));
  return weights;
}

SwinV2Weights weights_of(const Parameters& given, const SchemeRequest& request) {
  const std::int64_t hidden = hidden_of(given);
  return {given.weight("w1", {hidden, 2}).clone(), given.weight("b1", {hidden}).clone(),
          given.weight("w2", {request.heads, hidden}).clone()};
}

std::int64_t length_class(const SchemeRequest& request, std::int64_t length) {
  const Parameters given(kSwinV2, request);
  const detail::Grid grid = detail::grid_of("swin_v2", given.integer("rows"),
                                            given.integer("columns"), length, request.heads);
  return (grid.rows << 29) + grid.columns;  // sides are 2^28 at most
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kSwinV2, request);
  const SwinV2 options = options_of(given, request);
  return swin_v2(options, weights_of(given, request), request.positions);
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kSwinV2, request);
  SwinV2Weights sums =
      swin_v2_backward(options_of(given, request), weights_of(given, request), gradient);
  SchemeWeights gradients;
  gradients.emplace("w1", std::move(sums.w1));
  gradients.emplace("b1", std::move(sums.b1));
  gradients.emplace("w2", std::move(sums.w2));
  return gradients;
}

}  // namespace

constinit const Scheme kSwinV2 = {
    .name = "swin_v2",
    .kind = SchemeKind::indexed_bias,
    .idea = "A small network computes each head's bias from the log-scaled offset of two patches.",
    .paper = "Liu et al. 2021, 2111.09883",
    .parameters = kParameters,
    .make = make,
    .weights = kWeights,
    .initial_weights = initial_weights,
    .backward = backward,
    .length_class = length_class,
};

}  // namespace sextant::descriptors
