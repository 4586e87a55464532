// Swin-v2's biases: a network of the offsets' logarithms, baked into a table.
#include "sextant/schemes/indexed/swin_v2.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "schemes/definition.h"
#include "schemes/indexed/grid_bias.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

struct SwinV2Sizes {  // sizes from the shapes of the weights
  std::int64_t hidden = 512;
};
constexpr IntegerRange kPretrained{2, 1 << 28};

}  // namespace

template <>
inline constexpr auto kFields<SwinV2> =
    std::tuple{field(&SwinV2::rows, "rows", schemes_detail::kGridSide,
                     "rows of the window; auto: the fewest that contain the largest id"),
               field(&SwinV2::columns, "columns", schemes_detail::kGridSide,
                     "columns of the window; auto: the fewest that contain the largest id, a "
                     "square if rows is auto too"),
               field(&SwinV2::pretrained_rows, "pretrained_rows", kPretrained,
                     "rows of the window in pretraining; auto: rows"),
               field(&SwinV2::pretrained_columns, "pretrained_columns", kPretrained,
                     "columns of the window in pretraining; auto: columns")};
template <>
inline constexpr auto kFields<SwinV2Sizes> = std::tuple{
    field(&SwinV2Sizes::hidden, "hidden", IntegerRange{1, 1 << 16}, "hidden units of the network")};
template <>
inline constexpr auto kWeights<SwinV2Weights> = std::tuple{
    weight(&SwinV2Weights::w1, "w1", "[hidden, 2]",
           "weights of the hidden layer, for rows and columns; initially uniform, +-1/sqrt(2)"),
    weight(&SwinV2Weights::b1, "b1", "[hidden]",
           "bias of the hidden layer; initially uniform, +-1/sqrt(2)"),
    weight(&SwinV2Weights::w2, "w2", "[heads, hidden]",
           "weights of the output; initially uniform, +-1/sqrt(hidden)")};

namespace {

std::int64_t hidden_of(const SwinV2Weights& weights) {
  const std::int64_t hidden = weights.w1.rank() == 2 ? weights.w1.size(0) : 0;
  schemes_detail::check_weight("swin_v2", "w1", weights.w1, {"hidden", 2});
  schemes_detail::check_weight("swin_v2", "b1", weights.b1, {hidden});
  schemes_detail::check_weight("swin_v2", "w2", weights.w2, {"heads", hidden});
  if (hidden < 1) throw Error("swin_v2.w1", "must have at least one hidden unit");
  return hidden;
}

// Calls each(offset, g(rows), g(columns)).
template <class Each>
void for_each_offset(const SwinV2& options, const schemes_detail::Grid& grid, Each each) {
  const std::int64_t by_rows = options.pretrained_rows.value_or(grid.rows);
  const std::int64_t by_columns = options.pretrained_columns.value_or(grid.columns);
  std::int64_t offset = 0;
  for (std::int64_t down = 1 - grid.rows; down < grid.rows; ++down) {
    for (std::int64_t across = 1 - grid.columns; across < grid.columns; ++across) {
      each(offset++, swin_v2_coordinate(down, by_rows), swin_v2_coordinate(across, by_columns));
    }
  }
}

double before_relu(const SwinV2Weights& weights, std::int64_t unit, double down, double across) {
  return weights.w1(unit, std::int64_t{0}) * down + weights.w1(unit, std::int64_t{1}) * across +
         weights.b1(unit);
}

// Returns the output of the network for each head, before the sigmoid.
double output(const SwinV2Weights& weights, std::int64_t head, const std::vector<double>& hidden) {
  double sum = 0;
  for (std::size_t unit = 0; unit < hidden.size(); ++unit) {
    sum += weights.w2(head, static_cast<std::int64_t>(unit)) * hidden[unit];
  }
  if (!std::isfinite(sum)) throw Error("swin_v2.w2", "must give finite sums with w1 and b1");
  return sum;
}

}  // namespace

double swin_v2_coordinate(std::int64_t offset, std::int64_t window) {
  if (window <= 1) return 0;
  const double u = 8 * static_cast<double>(offset) / static_cast<double>(window - 1);
  return std::copysign(std::log2(1 + std::abs(u)) / 3, u);
}

Tensor<double> swin_v2_table(const SwinV2& options, const SwinV2Weights& weights) {
  std::vector<double> hidden(static_cast<std::size_t>(hidden_of(weights)));
  const std::int64_t heads = weights.w2.size(0);
  check_fields("swin_v2", options);
  const schemes_detail::Grid grid =
      schemes_detail::given_grid("swin_v2", options.rows, options.columns, heads);
  Tensor<double> table({grid.offsets(), heads});
  for_each_offset(options, grid, [&](std::int64_t offset, double down, double across) {
    for (std::size_t unit = 0; unit < hidden.size(); ++unit) {
      hidden[unit] =
          std::max(0.0, before_relu(weights, static_cast<std::int64_t>(unit), down, across));
    }
    for (std::int64_t head = 0; head < heads; ++head) {
      table(offset, head) = 16 / (1 + std::exp(-output(weights, head, hidden)));
    }
  });
  return table;
}

std::shared_ptr<const ScoreTerm> swin_v2(const SwinV2& options, const SwinV2Weights& weights,
                                         std::span<const std::int64_t> positions) {
  check_fields("swin_v2", options);
  hidden_of(weights);
  schemes_detail::PositionRuns ids("swin_v2", positions);
  const schemes_detail::Grid grid =
      schemes_detail::grid_of("swin_v2", options.rows, options.columns, ids, weights.w2.size(0));
  SwinV2 given = options;
  given.rows = grid.rows;
  given.columns = grid.columns;
  return std::make_shared<schemes_detail::GridBias>(grid, std::move(ids),
                                                    swin_v2_table(given, weights), true);
}

SwinV2Weights swin_v2_backward(const SwinV2& options, const SwinV2Weights& weights,
                               View<const double> gradient) {
  const std::int64_t units = hidden_of(weights), heads = weights.w2.size(0);
  check_fields("swin_v2", options);
  const schemes_detail::Grid grid =
      schemes_detail::given_grid("swin_v2", options.rows, options.columns, heads);
  const Tensor<double> of_table = schemes_detail::grid_gradient("swin_v2", grid, heads, gradient);
  SwinV2Weights sums{Tensor<double>({units, 2}), Tensor<double>({units}),
                     Tensor<double>({heads, units})};
  std::vector<double> hidden(static_cast<std::size_t>(units)),
      of_output(static_cast<std::size_t>(heads));
  for_each_offset(options, grid, [&](std::int64_t offset, double down, double across) {
    for (std::int64_t unit = 0; unit < units; ++unit) {
      hidden[static_cast<std::size_t>(unit)] =
          std::max(0.0, before_relu(weights, unit, down, across));
    }
    for (std::int64_t head = 0; head < heads; ++head) {
      const double half = std::exp(-std::abs(output(weights, head, hidden)) / 2);
      // sigmoid' = e^-|z| / (1 + e^-|z|)^2
      const double slope = half / (1 + half * half);
      of_output[static_cast<std::size_t>(head)] = of_table(offset, head) * 16 * slope * slope;
    }
    for (std::int64_t unit = 0; unit < units; ++unit) {
      const double value = hidden[static_cast<std::size_t>(unit)];
      if (value == 0) continue;  // relu' is 0 there, at 0 too
      double of_unit = 0;
      for (std::int64_t head = 0; head < heads; ++head) {
        const double of_head = of_output[static_cast<std::size_t>(head)];
        sums.w2(head, unit) += of_head * value;
        of_unit += of_head * weights.w2(head, unit);
      }
      sums.w1(unit, std::int64_t{0}) += of_unit * down;
      sums.w1(unit, std::int64_t{1}) += of_unit * across;
      sums.b1(unit) += of_unit;
    }
  });
  return sums;
}

namespace descriptors {
namespace {

using Of = Given<SwinV2, SwinV2Sizes>;

SwinV2 window_of(const Of& of) {
  SwinV2 options = of;
  const schemes_detail::Grid grid =
      schemes_detail::grid_of("swin_v2", options.rows, options.columns,
                              schemes_detail::PositionRuns("swin_v2", of.ids()), of.request.heads);
  options.rows = grid.rows;
  options.columns = grid.columns;
  return options;
}

constexpr Definition<SwinV2Weights, SwinV2, SwinV2Sizes> kDefinition = {
    .name = "swin_v2",
    .title = "Swin v2",
    .kind = SchemeKind::indexed_bias,
    .idea = "A small network computes each head's bias from the log-scaled offset of two patches.",
    .paper = "Liu et al. 2021, 2111.09883",
    .sizes = [](const Of& of) -> WeightSizes {
      return {{"w1", {of.hidden, 2}}, {"b1", {of.hidden}}, {"w2", {of.request.heads, of.hidden}}};
    },
    .initial =
        [](const Of& of, InitialWeights& to) {
          const double in = std::sqrt(0.5), out = 1 / std::sqrt(static_cast<double>(of.hidden));
          to.uniform("w1", -in, in);
          to.uniform("b1", -in, in);
          to.uniform("w2", -out, out);
        },
    .make = [](const Of& of, const auto& weights) -> SchemeTable {
      return swin_v2(window_of(of), weights, of.request.positions);
    },
    .backward = [](const Of& of, const auto& weights,
                   auto gradient) { return swin_v2_backward(window_of(of), weights, gradient); },
    .length_class =
        [](const Of& of, std::int64_t length) {
          return schemes_detail::class_of_grid("swin_v2", of.rows, of.columns, length,
                                               of.request.heads);
        },
    .max_length = [](const Of& of) { return schemes_detail::cells_of(of.rows, of.columns); },
};

}  // namespace

constinit const Scheme kSwinV2 = scheme_of<kSwinV2, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
