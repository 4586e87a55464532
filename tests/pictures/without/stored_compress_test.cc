// PNG without zlib, as WebAssembly writes it: libpng reads it.
#include <gtest/gtest.h>

#include <vector>

#include "pictures/png/compress.h"
#include "pictures/png/png_writer.h"
#include "pictures/png_reader.h"

namespace sextant::pictures {
namespace {

void check(std::size_t width, std::size_t height) {
  const std::vector<Rgb> colors = {{0, 0, 0}, {10, 20, 30}, {255, 128, 1}};
  std::vector<std::uint8_t> pixels(width * height);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 7 % 3);
  const testing::Pixels read = testing::read_png(write_png(pixels, width, colors));
  ASSERT_EQ(read.width, width);
  ASSERT_EQ(read.height, height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      const Rgb got = read.at(x, y), want = colors[pixels[y * width + x]];
      ASSERT_TRUE(got.r == want.r && got.g == want.g && got.b == want.b) << x << ' ' << y;
    }
  }
}

// A block holds 65535 bytes, and a row has one before its pixels.
TEST(StoredCompress, LibpngReadsOneBlockAndSeveral) {
  check(1, 1);
  check(3, 5);
  check(65534, 1);
  check(65535, 1);
  check(700, 500);
}

TEST(StoredCompress, ChecksumsAreTheStandardsOwn) {
  EXPECT_EQ(crc32_of("123456789"), 0xcbf43926u);
  EXPECT_EQ(zlib_stream("Wikipedia").substr(7 + 9), "\x11\xe6\x03\x98");
  EXPECT_EQ(zlib_stream("").size(), 2u + 5u + 4u);
}

}  // namespace
}  // namespace sextant::pictures
