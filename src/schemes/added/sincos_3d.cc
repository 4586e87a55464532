// Video positions: sinusoidal tables of frame, row and column side by side.
#include "sextant/schemes/added/sincos_3d.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/arrays/each_dtype.h"
#include "schemes/added/sine_blocks.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/definition.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

struct FrameGrid {
  std::optional<std::int64_t> rows, columns;
};

}  // namespace

std::string_view name_of(Sincos3dForm form) noexcept {
  return enum_name(form, {"multidim", "diffusers", "tensor2tensor"});
}

template <>
inline constexpr auto kMeanings<Sincos3dForm> =
    meanings("frame, row, column, each interleaved and a third wide, cut off at the width",
             "frame, column, row, each half-split, with 1/4, 3/8 and 3/8 of the width",
             "frame, row, column, each half-split with ladder d/2-1 and a third wide, then zeros");

template <>
inline constexpr auto kFields<Sincos3d> = std::tuple{
    field(&Sincos3d::width, "width", IntegerRange{1, 1 << 30}, "columns")
        .of_request()
        .with_condition("as the form allows"),
    field(&Sincos3d::form, "form", "division of the columns among the three axes"),
    field(&Sincos3d::base, "base", kAboveZero, "wavelengths run from 2 pi to about 2 pi * base"),
    field(&Sincos3d::threads, "threads", kThreads, "0: the default").of_request()};

template <>
inline constexpr auto kFields<FrameGrid> =
    std::tuple{field(&FrameGrid::rows, "rows", kSides,
                     "rows of a frame, if each patch has one id, (frame * rows + row) * columns + "
                     "column; auto: the smallest cube that contains all patches"),
               field(&FrameGrid::columns, "columns", kSides, "columns of a frame, as for rows")};

namespace {

// One axis and the place of its table; columns beyond `width` are cut off.
struct Block {
  std::int64_t axis;
  std::int64_t begin;
  std::int64_t width;
};

std::vector<Block> blocks_of(const Sincos3d& options) {
  const std::int64_t width = options.width;
  const auto check_width = [&](bool fits, const std::string& rule) {
    if (fits) return;
    throw Error("sincos_3d.width", "must be " + rule + " .. 2^30 for form " +
                                       std::string(name_of(options.form)) + ", got " +
                                       std::to_string(width));
  };
  switch (options.form) {
    case Sincos3dForm::diffusers:
      check_width(width >= 16 && width % 16 == 0, "a multiple of 16, 16");
      return {{0, 0, width / 4}, {2, width / 4, width / 8 * 3}, {1, width / 8 * 5, width / 8 * 3}};
    case Sincos3dForm::tensor2tensor: {
      check_width(width >= 12, "12");
      const std::int64_t each = width / 6 * 2;
      return {{0, 0, each}, {1, each, each}, {2, 2 * each, each}};
    }
    default: {
      const std::int64_t each = (width + 5) / 6 * 2;
      return {{0, 0, each}, {1, each, each}, {2, 2 * each, each}};
    }
  }
}

template <Floating T, class Position>
Tensor<T> make(const Sincos3d& options, std::span<const Position> positions) {
  check_fields("sincos_3d", options);
  const std::vector<Block> blocks = blocks_of(options);
  if (positions.size() % 3 != 0) {
    throw Error("sincos_3d.positions", "must be triples of frame, row and column, got " +
                                           std::to_string(positions.size()) + " numbers");
  }
  const auto rows = static_cast<std::int64_t>(positions.size() / 3);
  check_table_size("sincos_3d.positions", rows, options.width);
  Tensor<T> out({rows, options.width});
  for (const Block& block : blocks) {
    const std::int64_t columns = std::min(block.width, options.width - block.begin);
    if (columns <= 0) continue;
    Sinusoidal table{.width = block.width, .base = options.base, .threads = options.threads};
    if (options.form != Sincos3dForm::multidim) table.layout = SinusoidalLayout::half_split;
    if (options.form == Sincos3dForm::tensor2tensor) table.ladder = Ladder::d_half_minus_1;
    const std::vector<Position> axis = axis_of(positions, 3, block.axis);
    fill_sine_columns<T, Position>(table, axis, columns, out.data() + block.begin, options.width);
  }
  return out;
}

}  // namespace

template <Floating T>
Tensor<T> sincos_3d(const Sincos3d& options, std::span<const std::int64_t> positions) {
  listed_positions(positions, "sincos_3d.positions");
  return make<T>(options, positions);
}

template <Floating T>
Tensor<T> sincos_3d(const Sincos3d& options, std::span<const double> positions) {
  check_coordinates(positions, "sincos_3d.positions");
  return make<T>(options, positions);
}

#define SEXTANT_INSTANTIATE(T)                                                     \
  template Tensor<T> sincos_3d<T>(const Sincos3d&, std::span<const std::int64_t>); \
  template Tensor<T> sincos_3d<T>(const Sincos3d&, std::span<const double>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

namespace descriptors {
namespace {

constexpr Definition<NoWeights, Sincos3d, FrameGrid> kDefinition = {
    .name = "sincos_3d",
    .title = "sin-cos 3-D",
    .kind = SchemeKind::added,
    .idea = "Adds sines and cosines of a video patch's frame, row and column, side by side.",
    .paper = "Vaswani et al. 2018, 1803.07416; Yang et al. 2024, 2408.06072",
    .make = [](const auto& of) -> SchemeTable {
      listed_positions(of.request.positions, "sincos_3d.positions");
      const std::int64_t side = min_side(of.request.rows(), 3);
      const std::int64_t inner[] = {of.rows.value_or(side), of.columns.value_or(side)};
      return sincos_3d<double>(of, grid_ids_of(of.request, "sincos_3d", inner));
    },
    .length_class = [](const auto& of, std::int64_t length) -> std::int64_t {
      return of.rows && of.columns ? 0 : min_side(length, 3);
    },
};

}  // namespace

constinit const Scheme kSincos3d = scheme_of<kSincos3d, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
