// Axial rotary positions: frequencies for rows and columns, and coordinates of grids.
#include "sextant/schemes/rotated/rotary_axial.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/numbers/max_position.h"
#include "core/options/enum_names.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/ids/grid.h"
#include "schemes/rotated/rotary_axes.h"
#include "schemes/rotated/rotary_scheme.h"

namespace sextant {

template <>
inline constexpr auto kMeanings<AxialOrder> =
    meanings("that of the first id, the row of an image",
             "that of the column; with three ids the last two axes are swapped");

template <>
inline constexpr auto kMeanings<AxialFrequencies> =
    meanings("one ladder per axis", "one ladder, whose entries alternate between the axes");

template <>
inline constexpr auto kMeanings<AxialCoordinates> = meanings("the id plus `first`",
                                                             "2 pi times -1 .. 1 over the grid");

template <>
inline constexpr auto kFields<AxialAxes> = std::tuple{
    field(&AxialAxes::order, "order", "axis of the first pairs"),
    field(&AxialAxes::frequencies, "frequencies", "division of the frequencies among the axes"),
    field(&AxialAxes::axis_dims, "axis_dims", ListRange{IntegerRange{2, 1 << 30, 2}},
          "channels per axis, such as 16,56,56; auto: divided as evenly as possible"),
    field(&AxialAxes::coordinates, "coordinates", "coordinate that multiplies the frequencies"),
    field(&AxialAxes::first, "first", IntegerRange{0, 1}, "coordinate of the first row and column"),
    field(&AxialAxes::columns, "columns", kLengths,
          "columns of the grid; auto: the fewest that contain all positions"),
    field(&AxialAxes::rows, "rows", kLengths, "rows of the grid"),
    field(&AxialAxes::pretrained_columns, "pretrained_columns", kLengths,
          "columns of the grid in pretraining: coordinates are multiplied by pretrained_columns / "
          "columns; auto: by 1"),
    field(&AxialAxes::pretrained_rows, "pretrained_rows", kLengths, "the same for rows")};

namespace {

using Dims = std::vector<std::int64_t>;

Dims checked_dims(const Rotation& rotation, const AxialAxes& options, std::int64_t axes) {
  if (axes != 2 && axes != 3) {
    throw Error(rotation.where("positions"),
                "must be two ids (row and column) or three per token, got " + std::to_string(axes));
  }
  Dims dims = options.axis_dims;
  if (dims.empty()) {
    dims.assign(static_cast<std::size_t>(axes), rotation.pairs() / axes * 2);
    dims[0] = rotation.dim - (axes - 1) * dims[1];
  }
  if (static_cast<std::int64_t>(dims.size()) != axes) {
    throw Error(rotation.where("axis_dims"), "must be " + std::to_string(axes) +
                                                 " numbers, one for each axis, got " +
                                                 std::to_string(dims.size()));
  }
  std::int64_t sum = 0;
  for (const std::int64_t dim : dims) {
    if (dim < 2 || dim % 2 != 0 || dim > rotation.dim) {
      throw Error(rotation.where("axis_dims"), "must each be even, 2 .. " +
                                                   std::to_string(rotation.dim) + ", got " +
                                                   std::to_string(dim));
    }
    sum += dim;
  }
  if (sum != rotation.dim) {
    throw Error(rotation.where("axis_dims"), "must sum to the " + std::to_string(rotation.dim) +
                                                 " rotated channels, got " + std::to_string(sum));
  }
  if (options.frequencies == AxialFrequencies::shared &&
      std::any_of(dims.begin(), dims.end(), [&](std::int64_t dim) { return dim != dims[0]; })) {
    throw Error(rotation.where("axis_dims"), "must be equal when the axes share one ladder");
  }
  return dims;
}

// Sizes of the axes, given or the smallest that hold the ids.
Dims sizes_of(const AxialAxes& options, View<const std::int64_t> ids) {
  Dims sizes(static_cast<std::size_t>(ids.size(1)), 1);
  for (std::int64_t row = 0; row < ids.size(0); ++row) {
    for (std::int64_t a = 0; a < ids.size(1); ++a) {
      sizes[a] = std::max(sizes[a], ids(row, a) + 1);
    }
  }
  if (options.columns) sizes.back() = *options.columns;
  if (options.rows) sizes[sizes.size() - 2] = *options.rows;
  return sizes;
}

// Refuses options that exclude each other.
void check(const Rotation& rotation, const AxialAxes& options) {
  check_fields(rotation.scheme, options);
  if (options.coordinates != AxialCoordinates::centered) return;
  if (options.first != 0) {
    throw Error(rotation.where("first"),
                "must be 0 for centered coordinates, got " + std::to_string(options.first));
  }
  if (rotation.precision == Precision::framework) {
    throw Error(rotation.where("precision"), "must be exact for centered coordinates");
  }
  if (options.pretrained_columns || options.pretrained_rows) {
    throw Error(rotation.where("coordinates"), "must be index where pretrained sizes are given");
  }
}

}  // namespace

void set_axes(Rotation& rotation, const AxialAxes& options, std::int64_t axes,
              const SetFrequencies& set) {
  check(rotation, options);
  const Dims dims = checked_dims(rotation, options, axes);
  rotation.axes = axes;
  const bool shared = options.frequencies == AxialFrequencies::shared;
  Rotation part = rotation;  // whose pairs an axis takes
  if (shared) set(part);
  for (std::int64_t i = 0; i < axes; ++i) {
    std::int64_t axis = i;
    if (options.order == AxialOrder::column_first && i >= axes - 2) axis = 2 * axes - 3 - i;
    const std::int64_t pairs = dims[axis] / 2;
    if (!shared) {
      part.dim = dims[axis];
      set(part);
    }
    for (std::int64_t k = 0; k < pairs; ++k) {
      const std::int64_t entry = shared ? i + axes * k : k;
      rotation.frequencies.push_back(part.frequencies[entry]);
      rotation.framework.push_back(part.framework[entry]);
    }
    rotation.axis_of_pair.insert(rotation.axis_of_pair.end(), static_cast<std::size_t>(pairs),
                                 static_cast<std::int32_t>(axis));
    rotation.amplitude = part.amplitude;
  }
  if (options.coordinates == AxialCoordinates::centered) {
    const WideFloat circle = wide_pi().times_power_of_two(1);
    for (WideFloat& frequency : rotation.frequencies) frequency = frequency * circle;
  }
}

Tensor<std::int64_t> coordinates_of(Rotation& rotation, const AxialAxes& options,
                                    View<const std::int64_t> ids) {
  Tensor<std::int64_t> coordinates = copy_of(ids);
  const std::int64_t axes = ids.size(1);
  (void)listed_positions(std::as_const(coordinates).span(), rotation.where("positions"));
  const Dims sizes = sizes_of(options, ids);
  if (options.coordinates == AxialCoordinates::centered) {  // u = (2 id + 1 - size) / size
    for (std::int64_t row = 0; row < ids.size(0); ++row) {
      for (std::int64_t a = 0; a < axes; ++a) {
        coordinates(row, a) = 2 * coordinates(row, a) + 1 - sizes[a];
      }
    }
    for (std::size_t k = 0; k < rotation.frequencies.size(); ++k) {
      rotation.frequencies[k] =
          rotation.frequencies[k] / static_cast<std::uint64_t>(sizes[rotation.axis_of_pair[k]]);
    }
    return coordinates;
  }
  for (std::int64_t& coordinate : coordinates.span()) coordinate += options.first;
  const auto fit = [&](std::int64_t axis, std::optional<std::int64_t> pretrained) {
    if (!pretrained) return;
    const auto size = static_cast<std::uint64_t>(sizes[axis]);
    const auto fraction =
        static_cast<float>(static_cast<double>(*pretrained) / static_cast<double>(size));
    for (std::size_t k = 0; k < rotation.frequencies.size(); ++k) {
      if (rotation.axis_of_pair[k] != axis) continue;
      rotation.frequencies[k] =
          rotation.frequencies[k] * WideFloat(static_cast<double>(*pretrained)) / size;
      rotation.framework[k] *= fraction;
    }
  };
  fit(axes - 1, options.pretrained_columns);
  fit(axes - 2, options.pretrained_rows);
  return coordinates;
}

AxialCells cells_of(const AxialAxes& options, std::int64_t count, const std::int64_t* listed) {
  if (count < 0 || count > kMaxPosition) {
    throw Error("rotary_axial.length", "must be 0 .. 2^53, got " + std::to_string(count));
  }
  std::int64_t last = listed == nullptr ? count - 1 : 0;
  for (std::int64_t i = 0; i < count && listed != nullptr; ++i) {
    if (listed[i] < 0 || listed[i] > kMaxPosition) {
      throw Error("rotary_axial.positions",
                  "must be cells of a grid, 0 .. 2^53, got " + std::to_string(listed[i]));
    }
    last = std::max(last, listed[i]);
  }
  AxialCells cells{options, Tensor<std::int64_t>::uninitialized({count, 2})};
  const std::int64_t columns = options.columns.value_or(min_side(last + 1));
  cells.axial.columns = columns;
  if (!options.rows) cells.axial.rows = std::max<std::int64_t>(last, 0) / columns + 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t cell = listed == nullptr ? i : listed[i];
    cells.ids(i, 0) = cell / columns;
    cells.ids(i, 1) = cell % columns;
  }
  return cells;
}

std::string_view name_of(AxialOrder order) noexcept {
  return enum_name(order, {"row_first", "column_first"});
}
std::string_view name_of(AxialFrequencies frequencies) noexcept {
  return enum_name(frequencies, {"per_axis", "shared"});
}
std::string_view name_of(AxialCoordinates coordinates) noexcept {
  return enum_name(coordinates, {"index", "centered"});
}

namespace descriptors {
namespace {

std::int64_t class_of(const SchemeRequest& request, std::int64_t length) {
  const auto options = Parameters(kRotaryAxial, request).options<AxialAxes>();
  const std::int64_t columns = options.columns.value_or(min_side(length));
  const bool by_rows =
      options.coordinates == AxialCoordinates::centered || options.pretrained_rows.has_value();
  const std::int64_t rows =
      by_rows && !options.rows ? std::max<std::int64_t>(length - 1, 0) / columns + 1 : 0;
  return (rows << 31) + (options.columns ? 0 : columns);
}

}  // namespace

constinit const Scheme kRotaryAxial = [] {
  Scheme scheme = rotary_scheme<kRotaryAxial, std::monostate, 10000, AxialAxes>(
      AxialAxes::name, "rotary axial",
      "Rotary for images: some pairs are rotated by the row, the others by the column.",
      "EVA-02, Fang et al. 2023, 2303.11331; rope-vit, Heo et al. 2024, 2403.13298");
  scheme.length_class = class_of;
  return scheme;
}();

}  // namespace descriptors
}  // namespace sextant
