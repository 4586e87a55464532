// Which id of a token rotates which pair: sections of the pairs, or rows and columns of an image.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "schemes/rotated/rotation.h"
#include "schemes/rotated/rotation_generator.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

// Deals the pairs of a rotation, whose frequencies are set, to that many axes; 1: as many as the
// sections are, 3 where they are not given.
void set_axes(Rotation& rotation, const SectionAxes& sections, std::int64_t axes);

// Sets the frequencies of a rotation by its base and channels.
using SetFrequencies = std::function<void(Rotation&)>;

// Sets frequencies and axes, in radians per unit of the coordinate.
void set_axes(Rotation& rotation, const AxialAxes& axial, std::int64_t axes,
              const SetFrequencies& set);

// Converts ids [tokens, 2 or 3] into coordinates, and the frequencies to match: they are whole
// numbers also if coordinates are fractions.
Tensor<std::int64_t> coordinates_of(Rotation& rotation, const AxialAxes& axial,
                                    View<const std::int64_t> ids);

// Cells 0 .. count - 1 of an image, or those listed: rows and columns, and the options with the
// grid they are in.
struct AxialCells {
  AxialAxes axial;
  Tensor<std::int64_t> ids;  // [count, 2]
};
AxialCells cells_of(const AxialAxes& axial, std::int64_t count, const std::int64_t* listed);

}  // namespace sextant
