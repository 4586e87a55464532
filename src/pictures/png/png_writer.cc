// PNG with a palette (ISO/IEC 15948): a byte per pixel, no filter.
#include "pictures/png/png_writer.h"

#include <string_view>
#include <vector>

#include "pictures/png/compress.h"

namespace sextant::pictures {
namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";

void append_integer(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
}

// A length, a type and data, then the checksum of the last two.
void append_chunk(std::string& png, std::string_view type, std::string_view data) {
  append_integer(png, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = png.size();
  png.append(type).append(data);
  append_integer(png, crc32_of(std::string_view(png).substr(begin)));
}

}  // namespace

std::string write_png(std::span<const std::uint8_t> pixels, std::size_t width,
                      std::span<const Rgb> colors) {
  const std::size_t height = pixels.size() / width;
  std::string header;
  append_integer(header, static_cast<std::uint32_t>(width));
  append_integer(header, static_cast<std::uint32_t>(height));
  header.append({8, 3, 0, 0, 0});  // bits, palette, deflate, filters by row, not interlaced
  std::string palette;
  for (const Rgb& color : colors) {
    for (const std::uint8_t part : {color.r, color.g, color.b}) {
      palette += static_cast<char>(part);
    }
  }
  std::string rows;
  rows.reserve(pixels.size() + height);
  for (std::size_t row = 0; row < height; ++row) {
    rows += '\0';  // no filter
    const auto line = pixels.subspan(row * width, width);
    rows.append(line.begin(), line.end());
  }
  std::string png(kSignature);
  append_chunk(png, "IHDR", header);
  append_chunk(png, "sRGB", std::string_view("\0", 1));  // perceptual
  append_chunk(png, "PLTE", palette);
  append_chunk(png, "IDAT", zlib_stream(rows));
  append_chunk(png, "IEND", "");
  return png;
}

}  // namespace sextant::pictures
