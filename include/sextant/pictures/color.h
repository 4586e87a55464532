// Defines colour scales: sequential, white to dark blue, for weights; viridis for magnitudes; a
// diverging blue-white-red for signed values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sextant {

struct Rgb {
  std::uint8_t r, g, b;
};

enum class ColorMap { viridis, diverging, sequential };
std::string_view name_of(ColorMap map) noexcept;

Rgb color(ColorMap map, double t);                    // t in [0, 1], clamped; NaN is dark grey
inline constexpr Rgb kHiddenColor = {200, 200, 200};  // the colour of hidden pairs, on every scale
std::string hex(Rgb color);                           // "#440154"
// Returns the contrast of two colours by WCAG 2, 1 .. 21.
double contrast(Rgb a, Rgb b);
bool is_dark(Rgb color);  // whether white text has a higher contrast on it than black, at least 4.5

}  // namespace sextant
