// Swin-v2's biases: a network of the offsets' logarithms, baked into a table.
#include "sextant/schemes/indexed/swin_v2.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "schemes/distance/distances.h"
#include "schemes/indexed/grid_bias.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

std::int64_t hidden_of(const SwinV2Weights& weights) {
  const std::int64_t hidden = weights.w1.rank() == 2 ? weights.w1.size(0) : 0;
  if (hidden < 1 || weights.w1.size(1) != 2) {
    throw Error("swin_v2.w1", "must be [hidden, 2], got " + weights.w1.shape().to_string());
  }
  if (weights.b1.shape() != Shape{hidden}) {
    throw Error("swin_v2.b1",
                "must be [" + std::to_string(hidden) + "], got " + weights.b1.shape().to_string());
  }
  if (weights.w2.rank() != 2 || weights.w2.size(1) != hidden) {
    throw Error("swin_v2.w2", "must be [heads, " + std::to_string(hidden) + "], got " +
                                  weights.w2.shape().to_string());
  }
  detail::check_finite("swin_v2", "w1", weights.w1);
  detail::check_finite("swin_v2", "b1", weights.b1);
  detail::check_finite("swin_v2", "w2", weights.w2);
  return hidden;
}

// The window that offsets are scaled by, along one axis.
std::int64_t scale_window(const char* name, std::int64_t pretrained, std::int64_t window) {
  if (pretrained < 0 || pretrained == 1 || pretrained > (std::int64_t{1} << 28)) {
    throw Error(std::string("swin_v2.") + name,
                "must be 0 or 2 .. 2^28, got " + std::to_string(pretrained));
  }
  return pretrained == 0 ? window : pretrained;
}

detail::Grid given_grid(const SwinV2& options, std::int64_t heads) {
  if (options.rows < 1 || options.columns < 1) {
    throw Error("swin_v2.rows", "and columns must be given, got " + std::to_string(options.rows) +
                                    " x " + std::to_string(options.columns));
  }
  const detail::PositionRuns none("swin_v2", {});
  return detail::grid_of("swin_v2", options.rows, options.columns, none, heads);
}

// Calls each(offset, g(rows), g(columns)).
template <class Each>
void for_each_offset(const SwinV2& options, const detail::Grid& grid, Each each) {
  const std::int64_t by_rows = scale_window("pretrained_rows", options.pretrained_rows, grid.rows);
  const std::int64_t by_columns =
      scale_window("pretrained_columns", options.pretrained_columns, grid.columns);
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

// What the network puts out for each head, before the sigmoid.
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
  const detail::Grid grid = given_grid(options, heads);
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

std::shared_ptr<const IndexedBias> swin_v2(const SwinV2& options, const SwinV2Weights& weights,
                                           std::span<const std::int64_t> positions) {
  hidden_of(weights);
  detail::PositionRuns ids("swin_v2", positions);
  const detail::Grid grid =
      detail::grid_of("swin_v2", options.rows, options.columns, ids, weights.w2.size(0));
  SwinV2 given = options;
  given.rows = grid.rows;
  given.columns = grid.columns;
  return std::make_shared<detail::GridBias>(grid, std::move(ids), swin_v2_table(given, weights),
                                            true);
}

SwinV2Weights swin_v2_backward(const SwinV2& options, const SwinV2Weights& weights,
                               View<const double> gradient) {
  const std::int64_t units = hidden_of(weights), heads = weights.w2.size(0);
  const detail::Grid grid = given_grid(options, heads);
  const Tensor<double> of_table = detail::grid_gradient("swin_v2", grid, heads, gradient);
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

}  // namespace sextant
