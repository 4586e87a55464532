// The names of the options of rotations.
#include "schemes/enum_names.h"
#include "sextant/schemes/rotary.h"
#include "sextant/schemes/rotary_yarn.h"

namespace sextant {
namespace {

using namespace std::string_view_literals;

template <>
inline constexpr std::array kNames<RotaryLayout> = {"interleaved"sv, "half_split"sv};
template <>
inline constexpr std::array kNames<RotarySpan> = {"first"sv, "last"sv};
template <>
inline constexpr std::array kNames<YarnForm> = {"released"sv, "paper"sv};

}  // namespace

std::string_view name_of(RotaryLayout value) noexcept { return name(value); }
std::string_view name_of(RotarySpan value) noexcept { return name(value); }
std::string_view name_of(YarnForm value) noexcept { return name(value); }

template RotaryLayout parse_name(std::string_view, std::string_view);
template RotarySpan parse_name(std::string_view, std::string_view);
template YarnForm parse_name(std::string_view, std::string_view);

}  // namespace sextant
