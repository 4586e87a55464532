// An image of few colours as the bytes of a PNG file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sextant/pictures/color.h"

namespace sextant::pictures {

// Rows of `width` pixels from the top, each the number of one of up to 256 colours. Throws Error
// where the pixels are more than zlib compresses at once, 2^32 bytes.
std::string write_png(std::span<const std::uint8_t> pixels, std::size_t width,
                      std::span<const Rgb> colors);

}  // namespace sextant::pictures
