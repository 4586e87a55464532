// Makes image positions: a sinusoidal table of the rows and one of the columns, side by side.
#include "sextant/schemes/added/sincos_2d.h"

#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "core/arrays/each_dtype.h"
#include "core/options/fields.h"
#include "schemes/added/sine_blocks.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/choices.h"
#include "schemes/definition.h"
#include "sextant/core/error.h"

namespace sextant {

std::string_view name_of(Sincos2dForm form) noexcept {
  return enum_name(form, {"mae", "moco", "big_vision", "detr", "detr_normalized"});
}

std::string_view name_of(Sincos2dAxes axes) noexcept {
  return enum_name(axes, {"column_first", "row_first"});
}

template <>
inline constexpr auto kMeanings<Sincos2dForm> = meanings("MAE", "MoCo v3", "Big Vision", "DETR",
                                                         "DETR with normalized coordinates, SAM 2");

template <>
inline constexpr auto kMeanings<Sincos2dAxes> = meanings("the column", "the row");

template <>
inline constexpr auto kFields<Sincos2d> = std::tuple{
    field(&Sincos2d::width, "width", IntegerRange{2, 1 << 30, 2}, "columns")
        .of_request()
        .with_condition("at least 6 for ladder d/2-1"),
    field(&Sincos2d::form, "form",
          "model whose table is computed; the next six parameters override parts of it"),
    field(&Sincos2d::axes, "axes", "coordinate of the first half of the columns"),
    field(&Sincos2d::layout, "layout", "order of the columns in each half"),
    field(&Sincos2d::ladder, "ladder", "frequency of pair k of w columns, one half"),
    field(&Sincos2d::first, "first", kFinite,
          "coordinate of the first row and column; auto: 0, for DETR 1"),
    field(&Sincos2d::step, "step", kFinite, "step of the coordinate from patch to patch; auto: 1"),
    field(&Sincos2d::normalized, "normalized",
          "coordinate c becomes 2 pi c / (last c + 1e-6), as in DETR"),
    field(&Sincos2d::base, "base", kAboveZero, "wavelengths run from 2 pi to about 2 pi * base"),
    field(&Sincos2d::rows, "rows", kSides,
          "rows of the grid, for normalized; auto: up to the largest id"),
    field(&Sincos2d::columns, "columns", kSides,
          "columns of the grid, if each patch has one id, row * columns + column; auto: the "
          "smallest square that contains all patches"),
    field(&Sincos2d::threads, "threads", kThreads, "0: the default").of_request()};

namespace {

constexpr double kEpsilon = 1e-6;  // DETR's, in the denominator of normalized coordinates

// Checked, with all that the form gives.
Sincos2d resolved(const Sincos2d& options) {
  check_fields("sincos_2d", options);
  Sincos2d result = with_form(options);
  if (result.ladder == Ladder::d_half_minus_1 && result.width < 6) {
    throw Error("sincos_2d.width",
                "must be 6 .. 2^30 for ladder d/2-1, got " + std::to_string(result.width));
  }
  return result;
}

std::int64_t given_side(std::optional<std::int64_t> side, std::string_view where) {
  if (side) return *side;
  throw Error(where, "must be given");
}

// The coordinates of one axis whose grid has `side` patches.
std::vector<double> coordinates_of(const Sincos2d& options, std::vector<double> patches,
                                   std::int64_t side) {
  const double first = *options.first, step = *options.step;
  const double last = first + step * static_cast<double>(side - 1) + kEpsilon;
  for (double& x : patches) {
    x = first + step * x;
    if (*options.normalized) x = x / last * (2 * std::numbers::pi);
  }
  check_coordinates(patches, "sincos_2d.positions");
  return patches;
}

template <Floating T, class Position>
Tensor<T> make(const Sincos2d& given, std::span<const Position> positions) {
  const Sincos2d options = resolved(given);
  if (positions.size() % 2 != 0) {
    throw Error("sincos_2d.positions", "must be pairs of row and column, got " +
                                           std::to_string(positions.size()) + " numbers");
  }
  std::int64_t sides[] = {1, 1};
  if (*options.normalized) {
    sides[0] = given_side(options.rows, "sincos_2d.rows");
    sides[1] = given_side(options.columns, "sincos_2d.columns");
  }
  const auto rows = static_cast<std::int64_t>(positions.size() / 2);
  check_table_size("sincos_2d.positions", rows, options.width);
  // Whole coordinates take the fast way: with whole steps up to 2^53 they are exact.
  const bool whole = std::is_same_v<Position, std::int64_t> && !*options.normalized &&
                     *options.first == std::trunc(*options.first) &&
                     *options.step == std::trunc(*options.step);
  Sinusoidal block;
  block.width = (options.width + 3) / 4 * 2;
  block.base = options.base;
  block.layout = *options.layout;
  block.ladder = *options.ladder;
  block.threads = options.threads;
  check_sinusoidal(block);
  Tensor<T> out = Tensor<T>::uninitialized({rows, options.width});
  for (const std::int64_t axis : {0, 1}) {
    const std::vector<Position> listed = axis_of(positions, 2, axis);
    const std::vector<double> coordinates =
        coordinates_of(options, std::vector<double>(listed.begin(), listed.end()), sides[axis]);
    const bool comes_first = (axis == 1) == (options.axes == Sincos2dAxes::column_first);
    const std::int64_t count = comes_first ? block.width : options.width - block.width;
    T* columns = out.data() + (comes_first ? 0 : block.width);
    if (whole) {
      const std::vector<std::int64_t> ids(coordinates.begin(), coordinates.end());
      fill_sine_columns<T, std::int64_t>(block, ids, count, columns, options.width);
    } else {
      fill_sine_columns<T, double>(block, coordinates, count, columns, options.width);
    }
  }
  return out;
}

}  // namespace

Sincos2d with_form(const Sincos2d& options) {
  const bool detr =
      options.form == Sincos2dForm::detr || options.form == Sincos2dForm::detr_normalized;
  const bool rows_first = detr || options.form == Sincos2dForm::moco;
  const auto set = [](auto& member, auto value) { member = member.value_or(value); };
  Sincos2d result = options;
  set(result.axes, rows_first ? Sincos2dAxes::row_first : Sincos2dAxes::column_first);
  set(result.layout, detr ? SinusoidalLayout::interleaved : SinusoidalLayout::half_split);
  set(result.ladder, options.form == Sincos2dForm::big_vision ? Ladder::d_half_minus_1 : Ladder::d);
  set(result.first, detr ? 1 : 0);
  set(result.step, 1);
  set(result.normalized, options.form == Sincos2dForm::detr_normalized);
  return result;
}

template <Floating T>
Tensor<T> sincos_2d(const Sincos2d& options) {
  check_fields("sincos_2d", options);
  const std::int64_t rows = given_side(options.rows, "sincos_2d.rows");
  const std::int64_t columns = given_side(options.columns, "sincos_2d.columns");
  if (rows * columns > std::int64_t{1} << 40) {
    throw Error("sincos_2d.rows", "times columns must be at most 2^40, got " +
                                      std::to_string(rows) + " x " + std::to_string(columns));
  }
  std::vector<std::int64_t> positions;
  positions.reserve(static_cast<std::size_t>(2 * rows * columns));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      positions.push_back(row);
      positions.push_back(column);
    }
  }
  return make<T, std::int64_t>(options, positions);
}

template <Floating T>
Tensor<T> sincos_2d(const Sincos2d& options, std::span<const std::int64_t> positions) {
  listed_positions(positions, "sincos_2d.positions");
  return make<T>(options, positions);
}

template <Floating T>
Tensor<T> sincos_2d(const Sincos2d& options, std::span<const double> positions) {
  return make<T>(options, positions);
}

#define SEXTANT_INSTANTIATE(T)                                                     \
  template Tensor<T> sincos_2d<T>(const Sincos2d&);                                \
  template Tensor<T> sincos_2d<T>(const Sincos2d&, std::span<const std::int64_t>); \
  template Tensor<T> sincos_2d<T>(const Sincos2d&, std::span<const double>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

namespace descriptors {
namespace {

constexpr Definition<NoWeights, Sincos2d> kDefinition = {
    .name = "sincos_2d",
    .title = "sin-cos 2-D",
    .kind = SchemeKind::added,
    .idea =
        "Adds sines and cosines of an image patch's column in one half and of its row in the "
        "other.",
    .paper = "He et al. 2021, 2111.06377; Carion et al. 2020, 2005.12872",
    .make = [](const auto& of) -> SchemeTable {
      Sincos2d options = of;
      listed_positions(of.request.positions, "sincos_2d.positions");
      const std::int64_t inner[] = {options.columns.value_or(min_side(of.request.rows()))};
      const std::vector<std::int64_t> ids = grid_ids_of(of.request, "sincos_2d", inner);
      if (!options.rows) options.rows = min_side(ids, 2, 0);
      if (!options.columns) options.columns = of.request.axes == 1 ? inner[0] : min_side(ids, 2, 1);
      return sincos_2d<double>(options, ids);
    },
    .length_class = [](const auto& of, std::int64_t length) -> std::int64_t {
      const Sincos2d options = with_form(of);
      const std::int64_t columns = options.columns.value_or(min_side(length));
      const bool rows_matter = *options.normalized && !options.rows && length > 0;
      const std::int64_t rows = rows_matter ? (length - 1) / columns + 1 : 0;
      return (rows << 31) + (options.columns ? 0 : columns);
    },
};

}  // namespace

constinit const Scheme kSincos2d = scheme_of<kSincos2d, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
