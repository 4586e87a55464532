// The names of the options, one table per enum, used for printing and for parsing.
#include "core/enum_names.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {
namespace {

using namespace std::string_view_literals;

template <>
inline constexpr std::array kNames<SinusoidalLayout> = {"interleaved"sv, "half_split"sv,
                                                        "cos_first"sv};
template <>
inline constexpr std::array kNames<Ladder> = {"d"sv, "d/2-1"sv};
template <>
inline constexpr std::array kNames<Exponent> = {"standard"sv, "doubled"sv, "doubled_unpaired"sv};
template <>
inline constexpr std::array kNames<OddWidth> = {"extra_sine"sv, "zero_column"sv, "round_up"sv};
template <>
inline constexpr std::array kNames<Precision> = {"exact"sv, "framework"sv};

}  // namespace

std::string_view name_of(SinusoidalLayout value) noexcept { return name(value); }
std::string_view name_of(Ladder value) noexcept { return name(value); }
std::string_view name_of(Exponent value) noexcept { return name(value); }
std::string_view name_of(OddWidth value) noexcept { return name(value); }
std::string_view name_of(Precision value) noexcept { return name(value); }

template SinusoidalLayout parse_name(std::string_view, std::string_view);
template Ladder parse_name(std::string_view, std::string_view);
template Exponent parse_name(std::string_view, std::string_view);
template OddWidth parse_name(std::string_view, std::string_view);
template Precision parse_name(std::string_view, std::string_view);

}  // namespace sextant
