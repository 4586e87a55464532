// The names of the options of rotations.
#include "core/enum_names.h"
#include "sextant/schemes/rotated/rotary.h"
#include "sextant/schemes/rotated/rotary_axial.h"
#include "sextant/schemes/rotated/rotary_sections.h"
#include "sextant/schemes/rotated/rotary_yarn.h"

namespace sextant {

std::string_view name_of(RotarySpan value) noexcept {
  return enum_name(value, {"first", "last"});
}

std::string_view name_of(YarnForm value) noexcept {
  return enum_name(value, {"released", "paper"});
}

std::string_view name_of(SectionOrder value) noexcept {
  return enum_name(value, {"sectioned", "interleaved"});
}

std::string_view name_of(AxialOrder value) noexcept {
  return enum_name(value, {"row_first", "column_first"});
}

std::string_view name_of(AxialFrequencies value) noexcept {
  return enum_name(value, {"per_axis", "shared"});
}

std::string_view name_of(AxialCoordinates value) noexcept {
  return enum_name(value, {"index", "centered"});
}

}  // namespace sextant
