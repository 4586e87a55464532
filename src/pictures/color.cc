// The colour scales, as anchors with straight lines between them.
#include "sextant/pictures/color.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace sextant {
namespace {

// Every fifth of the 256 colours of viridis (van der Walt and Smith, CC0): straight lines between
// them stay within one of 255 levels of the full table.
constexpr std::array<std::uint32_t, 52> kViridis = {
    0x440154, 0x46085c, 0x471063, 0x481769, 0x481d6f, 0x482475, 0x472a7a, 0x46307e, 0x453781,
    0x433d84, 0x414287, 0x3f4889, 0x3d4e8a, 0x3a538b, 0x38598c, 0x355e8d, 0x33638d, 0x31688e,
    0x2e6d8e, 0x2c718e, 0x2a768e, 0x297b8e, 0x27808e, 0x25848e, 0x23898e, 0x218e8d, 0x20928c,
    0x1f978b, 0x1e9c89, 0x1fa188, 0x21a585, 0x24aa83, 0x28ae80, 0x2eb37c, 0x35b779, 0x3dbc74,
    0x46c06f, 0x50c46a, 0x5ac864, 0x65cb5e, 0x70cf57, 0x7cd250, 0x89d548, 0x95d840, 0xa2da37,
    0xb0dd2f, 0xbddf26, 0xcae11f, 0xd8e219, 0xe5e419, 0xf1e51d, 0xfde725};

// ColorBrewer's eleven-class RdBu, reversed so that negative is blue: safe for every kind of
// red-green blindness, and lightness says the magnitude.
constexpr std::array<std::uint32_t, 11> kDiverging = {0x053061, 0x2166ac, 0x4393c3, 0x92c5de,
                                                      0xd1e5f0, 0xf7f7f7, 0xfddbc7, 0xf4a582,
                                                      0xd6604d, 0xb2182b, 0x67001f};

// ColorBrewer's nine-class Blues, its first class white: one hue, darker with every step.
constexpr std::array<std::uint32_t, 9> kSequential = {
    0xffffff, 0xdeebf7, 0xc6dbef, 0x9ecae1, 0x6baed6, 0x4292c6, 0x2171b5, 0x08519c, 0x08306b};

constexpr Rgb kNoNumber = {115, 115, 115};

std::span<const std::uint32_t> anchors_of(ColorMap map) {
  switch (map) {
    case ColorMap::diverging:
      return kDiverging;
    case ColorMap::sequential:
      return kSequential;
    default:
      return kViridis;
  }
}

double luminance(Rgb color) {
  const auto linear = [](std::uint8_t channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b);
}

std::uint8_t between(std::uint32_t a, std::uint32_t b, int shift, double fraction) {
  const double low = (a >> shift) & 0xff;
  const double high = (b >> shift) & 0xff;
  return static_cast<std::uint8_t>(std::floor(low + (high - low) * fraction + 0.5));
}

}  // namespace

Rgb color(ColorMap map, double t) {
  if (std::isnan(t)) return kNoNumber;
  const std::span<const std::uint32_t> anchors = anchors_of(map);
  const double place = std::clamp(t, 0.0, 1.0) * static_cast<double>(anchors.size() - 1);
  const auto index = std::min(static_cast<std::size_t>(place), anchors.size() - 2);
  const double fraction = place - static_cast<double>(index);
  const std::uint32_t a = anchors[index], b = anchors[index + 1];
  return {between(a, b, 16, fraction), between(a, b, 8, fraction), between(a, b, 0, fraction)};
}

std::string hex(Rgb color) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "#";
  for (const std::uint8_t channel : {color.r, color.g, color.b}) {
    text += kDigits[channel >> 4];
    text += kDigits[channel & 15];
  }
  return text;
}

double contrast(Rgb a, Rgb b) {
  const double first = luminance(a), second = luminance(b);
  return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

bool is_dark(Rgb color) { return contrast(color, {255, 255, 255}) > contrast(color, {0, 0, 0}); }

}  // namespace sextant
