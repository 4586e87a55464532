// The names of the options, one table per enum, used for printing and for parsing.
#include <array>
#include <string>

#include "core/quoted_text.h"
#include "sextant/core/error.h"
#include "sextant/schemes/rotary.h"
#include "sextant/schemes/sinusoidal.h"

namespace sextant {
namespace {

using namespace std::string_view_literals;

// In the order of the enum.
template <class T>
inline constexpr std::array<std::string_view, 0> kNames = {};
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
template <>
inline constexpr std::array kNames<RotaryLayout> = {"interleaved"sv, "half_split"sv};

template <class T>
std::string_view name(T value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < kNames<T>.size() ? kNames<T>[index] : "unknown"sv;
}

}  // namespace

std::string_view name_of(SinusoidalLayout value) noexcept { return name(value); }
std::string_view name_of(Ladder value) noexcept { return name(value); }
std::string_view name_of(Exponent value) noexcept { return name(value); }
std::string_view name_of(OddWidth value) noexcept { return name(value); }
std::string_view name_of(Precision value) noexcept { return name(value); }
std::string_view name_of(RotaryLayout value) noexcept { return name(value); }

template <class T>
T parse_name(std::string_view name, std::string_view where) {
  std::string allowed;
  for (std::size_t i = 0; i < kNames<T>.size(); ++i) {
    if (kNames<T>[i] == name) return static_cast<T>(i);
    allowed += (i == 0 ? "" : ", ") + std::string(kNames<T>[i]);
  }
  throw Error(where, "must be one of " + allowed + ", got " + quoted_text(name));
}

template SinusoidalLayout parse_name(std::string_view, std::string_view);
template Ladder parse_name(std::string_view, std::string_view);
template Exponent parse_name(std::string_view, std::string_view);
template OddWidth parse_name(std::string_view, std::string_view);
template Precision parse_name(std::string_view, std::string_view);
template RotaryLayout parse_name(std::string_view, std::string_view);

}  // namespace sextant
