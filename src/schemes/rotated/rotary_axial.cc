// Axial rotary positions: ladders for rows and columns, and coordinates of grids.
#include "sextant/schemes/rotated/rotary_axial.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/option_checks.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/rotated/frequencies.h"
#include "schemes/rotated/rotation_generator.h"
#include "schemes/rotated/rotation_parameters.h"

namespace sextant {
namespace {

using Dims = std::vector<std::int64_t>;

Dims checked_dims(const Rotation& rotation, const RotaryAxial& options, std::int64_t axes) {
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
                                                 " channels that turn, got " + std::to_string(sum));
  }
  if (options.frequencies == AxialFrequencies::shared &&
      std::any_of(dims.begin(), dims.end(), [&](std::int64_t dim) { return dim != dims[0]; })) {
    throw Error(rotation.where("axis_dims"), "must be equal when the axes share one ladder");
  }
  return dims;
}

void append(Rotation& rotation, double base, std::int64_t start, std::int64_t step,
            std::int64_t denominator, std::int64_t count) {
  for (const WideFloat& f :
       geometric_ladder(base, start, step, denominator, count, rotation.where("base"))) {
    rotation.frequencies.push_back(f);
  }
  for (std::int64_t k = 0; k < count; ++k) {
    rotation.framework.push_back(1 / framework_power(base, start + k * step, denominator));
  }
}

// Radians per unit of the coordinates.
Rotation rotation_of(const RotaryAxial& options, std::int64_t axes) {
  Rotation rotation = checked_rotation("rotary_axial", options);
  check_named(rotation.where("order"), options.order);
  check_named(rotation.where("frequencies"), options.frequencies);
  check_named(rotation.where("coordinates"), options.coordinates);
  const bool centered = options.coordinates == AxialCoordinates::centered;
  if (options.first < 0 || options.first > (centered ? 0 : 1)) {
    throw Error(rotation.where("first"),
                std::string(centered ? "must be 0 for centered coordinates" : "must be 0 or 1") +
                    ", got " + std::to_string(options.first));
  }
  if (centered && options.precision == Precision::framework) {
    throw Error(rotation.where("precision"), "must be exact for centered coordinates");
  }
  if (options.columns) check_at_least(rotation, "columns", *options.columns, 1);
  if (options.rows) check_at_least(rotation, "rows", *options.rows, 1);
  const Dims dims = checked_dims(rotation, options, axes);
  rotation.axes = axes;
  for (std::int64_t i = 0; i < axes; ++i) {
    std::int64_t axis = i;
    if (options.order == AxialOrder::column_first && i >= axes - 2) axis = 2 * axes - 3 - i;
    const std::int64_t pairs = dims[axis] / 2;
    if (options.frequencies == AxialFrequencies::per_axis) {
      append(rotation, options.base, 0, 2, dims[axis], pairs);
    } else {
      append(rotation, options.base, 2 * i, 2 * axes, rotation.dim, pairs);
    }
    rotation.axis_of_pair.insert(rotation.axis_of_pair.end(), static_cast<std::size_t>(pairs),
                                 static_cast<std::int32_t>(axis));
  }
  if (centered) {
    const WideFloat turn = wide_pi().times_power_of_two(1);
    for (WideFloat& frequency : rotation.frequencies) frequency = frequency * turn;
  }
  return rotation;
}

// Sizes of the axes, given or the least that hold the ids.
Dims sizes_of(const RotaryAxial& options, View<const std::int64_t> ids) {
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

// What frequencies are multiplied by: whole numbers, also where coordinates are centered, since u =
// (2 id + 1 - size) / size.
template <Floating T>
RotationTable<T> make(const RotaryAxial& options, View<const std::int64_t> ids) {
  Rotation rotation = rotation_of(options, ids.rank() == 2 ? ids.size(1) : 0);
  Tensor<std::int64_t> coordinates = copy_of(ids);
  const std::int64_t axes = ids.size(1);
  (void)listed_positions(std::as_const(coordinates).span(), rotation.where("positions"));
  if (options.coordinates == AxialCoordinates::index) {
    for (std::int64_t& coordinate : coordinates.span()) coordinate += options.first;
  } else {
    const Dims sizes = sizes_of(options, ids);
    for (std::int64_t row = 0; row < ids.size(0); ++row) {
      for (std::int64_t a = 0; a < axes; ++a) {
        coordinates(row, a) = 2 * coordinates(row, a) + 1 - sizes[a];
      }
    }
    for (std::size_t k = 0; k < rotation.frequencies.size(); ++k) {
      rotation.frequencies[k] =
          rotation.frequencies[k] / static_cast<std::uint64_t>(sizes[rotation.axis_of_pair[k]]);
    }
  }
  return make_rotation_of_axes<T>(rotation, std::as_const(coordinates));
}

// Row and column of each cell.
struct Grid {
  RotaryAxial options;  // with the sizes of the grid
  Tensor<std::int64_t> ids;
};

// The side of the least square with `cells` cells.
std::int64_t square_side(std::int64_t cells) {
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(cells)));
  return side < 1 || side * side < cells ? side + 1 : side;
}

Grid grid_of(const RotaryAxial& options, std::int64_t count, const std::int64_t* listed) {
  const Rotation checked = rotation_of(options, 2);
  if (count < 0 || count > std::int64_t{1} << 53) {
    throw Error(checked.where("length"), "must be 0 .. 2^53, got " + std::to_string(count));
  }
  std::int64_t last = listed == nullptr ? count - 1 : 0;
  for (std::int64_t i = 0; i < count && listed != nullptr; ++i) {
    if (listed[i] < 0 || listed[i] > std::int64_t{1} << 53) {
      throw Error(checked.where("positions"),
                  "must be cells of a grid, 0 .. 2^53, got " + std::to_string(listed[i]));
    }
    last = std::max(last, listed[i]);
  }
  Grid grid{options, Tensor<std::int64_t>::uninitialized({count, 2})};
  const std::int64_t columns = options.columns.value_or(square_side(last + 1));
  grid.options.columns = columns;
  if (!options.rows) grid.options.rows = std::max<std::int64_t>(last, 0) / columns + 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t cell = listed == nullptr ? i : listed[i];
    grid.ids(i, 0) = cell / columns;
    grid.ids(i, 1) = cell % columns;
  }
  return grid;
}

}  // namespace

template <Floating T>
RotationTable<T> rotary_axial(const RotaryAxial& options, View<const std::int64_t> ids) {
  return make<T>(options, ids);
}
template <Floating T>
RotationTable<T> rotary_axial(const RotaryAxial& options, std::int64_t cells) {
  const Grid grid = grid_of(options, cells, nullptr);
  return make<T>(grid.options, grid.ids);
}
template <Floating T>
RotationTable<T> rotary_axial(const RotaryAxial& options, std::span<const std::int64_t> cells) {
  const Grid grid = grid_of(options, static_cast<std::int64_t>(cells.size()), cells.data());
  return make<T>(grid.options, grid.ids);
}
SEXTANT_INSTANTIATE_ROTATION(rotary_axial, RotaryAxial)

template RotationTable<float> rotary_axial(const RotaryAxial&, View<const std::int64_t>);
template RotationTable<double> rotary_axial(const RotaryAxial&, View<const std::int64_t>);
template RotationTable<bfloat16> rotary_axial(const RotaryAxial&, View<const std::int64_t>);
template RotationTable<float16> rotary_axial(const RotaryAxial&, View<const std::int64_t>);

RotationFrequencies rotation_frequencies(const RotaryAxial& options, std::int64_t axes) {
  return frequencies_of(rotation_of(options, axes));
}

namespace descriptors {
namespace {

constexpr SchemeParameter kOwn[] = {
    {"order", "row_first", "row_first | column_first", "which axis has the first pairs"},
    {"frequencies", "per_axis", "per_axis | shared",
     "a ladder for each axis, or one whose entries go to the axes in turn"},
    {"axis_dims", "auto", "auto, even numbers",
     "channels of each axis: 16,56,56; auto: as equal as possible"},
    {"coordinates", "index", "index | centered",
     "whole numbers, or -1 to 1 over the grid times 2 pi"},
    {"first", "0", "0 .. 1", "the coordinate of the first row and column"},
    {"columns", "auto", "auto, >= 1", "of the grid; auto: the least that hold all positions"},
    {"rows", "auto", "auto, >= 1", "of the grid"},
};
constexpr auto kParameters = rotation_parameters(kOwn);

RotaryAxial options_of(const Parameters& given, const SchemeRequest& request) {
  auto options = rotation_options<RotaryAxial>(given, request);
  options.order = parse_name<AxialOrder>(given.text("order"), given.where("order"));
  options.frequencies =
      parse_name<AxialFrequencies>(given.text("frequencies"), given.where("frequencies"));
  options.axis_dims = integers_or_auto(given, "axis_dims");
  options.coordinates =
      parse_name<AxialCoordinates>(given.text("coordinates"), given.where("coordinates"));
  const std::int64_t first = given.integer("first");
  options.first = first < 0 ? -1 : first > 1 ? 2 : static_cast<int>(first);
  options.columns = integer_or_auto(given, "columns");
  options.rows = integer_or_auto(given, "rows");
  return options;
}

SchemeTable make_table(const SchemeRequest& request) {
  const Parameters given(kRotaryAxial, request);
  const RotaryAxial options = options_of(given, request);
  if (request.axes == 1) return rotary_axial<double>(options, request.positions);
  return rotary_axial<double>(options, ids_of(request));
}

std::int64_t length_class(const SchemeRequest& request, std::int64_t length) {
  const RotaryAxial options = options_of(Parameters(kRotaryAxial, request), request);
  const std::int64_t columns =
      std::max<std::int64_t>(1, options.columns.value_or(square_side(length)));
  const bool rows_matter = options.coordinates == AxialCoordinates::centered && !options.rows;
  const std::int64_t rows = rows_matter ? std::max<std::int64_t>(length - 1, 0) / columns + 1 : 0;
  return (rows << 31) + (options.columns ? 0 : columns);
}

RotationFrequencies frequencies(const SchemeRequest& request) {
  return rotation_frequencies(options_of(Parameters(kRotaryAxial, request), request),
                              request.axes == 1 ? 2 : request.axes);
}

}  // namespace

constinit const Scheme kRotaryAxial = {
    .name = "rotary_axial",
    .kind = SchemeKind::rotated,
    .idea = "Rotary for images: some pairs turn by the row, the others by the column.",
    .paper = "EVA-02, Fang et al. 2023, 2303.11331; rope-vit, Heo et al. 2024, 2403.13298",
    .parameters = kParameters,
    .make = make_table,
    .length_class = length_class,
    .frequencies = frequencies,
};

}  // namespace descriptors
}  // namespace sextant
