// The names of the options of rotations.
#include "core/enum_names.h"
#include "sextant/schemes/rotated/rotary.h"
#include "sextant/schemes/rotated/rotary_axial.h"
#include "sextant/schemes/rotated/rotary_sections.h"
#include "sextant/schemes/rotated/rotary_yarn.h"

namespace sextant {
namespace {

using namespace std::string_view_literals;

template <>
inline constexpr std::array kNames<RotarySpan> = {"first"sv, "last"sv};
template <>
inline constexpr std::array kNames<YarnForm> = {"released"sv, "paper"sv};
template <>
inline constexpr std::array kNames<SectionOrder> = {"sectioned"sv, "interleaved"sv};
template <>
inline constexpr std::array kNames<AxialOrder> = {"row_first"sv, "column_first"sv};
template <>
inline constexpr std::array kNames<AxialFrequencies> = {"per_axis"sv, "shared"sv};
template <>
inline constexpr std::array kNames<AxialCoordinates> = {"index"sv, "centered"sv};

}  // namespace

std::string_view name_of(RotarySpan value) noexcept { return name(value); }
std::string_view name_of(YarnForm value) noexcept { return name(value); }
std::string_view name_of(SectionOrder value) noexcept { return name(value); }
std::string_view name_of(AxialOrder value) noexcept { return name(value); }
std::string_view name_of(AxialFrequencies value) noexcept { return name(value); }
std::string_view name_of(AxialCoordinates value) noexcept { return name(value); }

template RotarySpan parse_name(std::string_view, std::string_view);
template YarnForm parse_name(std::string_view, std::string_view);
template SectionOrder parse_name(std::string_view, std::string_view);
template AxialOrder parse_name(std::string_view, std::string_view);
template AxialFrequencies parse_name(std::string_view, std::string_view);
template AxialCoordinates parse_name(std::string_view, std::string_view);

}  // namespace sextant
