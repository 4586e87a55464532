// The pixels of a PNG file, through libpng.
#pragma once

#include <gtest/gtest.h>
#include <png.h>

#include <string>
#include <vector>

#include "sextant/pictures/color.h"

namespace sextant::testing {

struct Pixels {
  std::size_t width = 0, height = 0;
  std::vector<png_byte> rgb;
  Rgb at(std::size_t x, std::size_t y) const {
    const png_byte* p = &rgb[(y * width + x) * 3];
    return {p[0], p[1], p[2]};
  }
};

inline Pixels read_png(const std::string& bytes) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()), 0);
  image.format = PNG_FORMAT_RGB;
  Pixels result{image.width, image.height, std::vector<png_byte>(PNG_IMAGE_SIZE(image))};
  EXPECT_NE(png_image_finish_read(&image, nullptr, result.rgb.data(), 0, nullptr), 0);
  return result;
}

}  // namespace sextant::testing
