// Rotates images and videos by axis: some pairs are rotated by the row, others by the column (and
// by the frame or the text's id).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sextant {

enum class AxialOrder {
  row_first,     // pairs of the first id first     EVA-02, Qwen2-VL, Pixtral, DINOv3, FLUX, Wan
  column_first,  // the last two axes swapped       rope-vit, SAM 2, Llama 4's and torchtune's
                 // vision
};

enum class AxialFrequencies {
  per_axis,  // base^(-2m / w): a separate ladder for each axis of w channels
  shared,  // base^(-2m / n), one ladder of all n channels, dealt to the axes alternately   Pixtral
};

enum class AxialCoordinates {
  index,     // the id itself, plus `first`
  centered,  // 2 pi u, u = (2 id + 1) / size - 1 in (-1, 1)                              DINOv3
};

// The angle of a pair is the coordinate of its axis times its frequency. Ids are [tokens, 2], row
// and column, or [tokens, 3] with a frame (or a text's id) before them. One id per token is a cell
// of an image, numbered row by row: row = cell / columns, column = cell % columns.
struct AxialAxes {
  static constexpr std::string_view name = "rotary_axial";  // name of the scheme
  AxialOrder order = AxialOrder::row_first;
  AxialFrequencies frequencies = AxialFrequencies::per_axis;
  // Channels of each axis, 2 or 3 of them, even, sum rotary_dim, in the order of the ids; empty: as
  // equal as whole pairs can be for 2 axes (3 if the ids have three), the first with the rest.
  std::vector<std::int64_t> axis_dims{};
  AxialCoordinates coordinates = AxialCoordinates::index;
  int first = 0;  // 0 or 1: the coordinate of the first cell, for all axes; not with `centered`
  // The grid, 1 .. 2^53: the divisor of `centered`, and the numbering of cells without rows and
  // columns. Unset: the smallest that holds all ids; for cells columns = ceil(sqrt(last cell + 1)).
  std::optional<std::int64_t> columns{};
  std::optional<std::int64_t> rows{};
  // The grid of training, 1 .. 2^53, if the image has another one: coordinates are multiplied by
  // pretrained_columns / columns, an exact fraction (EVA-02: 16 / 24 ...). With `index`. Unset: by
  // 1.
  std::optional<std::int64_t> pretrained_columns{};
  std::optional<std::int64_t> pretrained_rows{};
};

std::string_view name_of(AxialOrder) noexcept;
std::string_view name_of(AxialFrequencies) noexcept;
std::string_view name_of(AxialCoordinates) noexcept;

}  // namespace sextant
