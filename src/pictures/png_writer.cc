// PNG with a palette (ISO/IEC 15948): a byte per pixel, no filter, compressed by zlib, which has the
// checksums too.
#include "pictures/png_writer.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "sextant/core/error.h"

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
  const auto* checked = reinterpret_cast<const Bytef*>(png.data() + begin);
  append_integer(png, static_cast<std::uint32_t>(crc32_z(0, checked, png.size() - begin)));
}

std::string compressed(const std::string& bytes) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  uLongf size = bytes.size() < kMost ? compressBound(static_cast<uLong>(bytes.size())) : 0;
  std::string result(size, '\0');
  if (size == 0 || compress(reinterpret_cast<Bytef*>(result.data()), &size,
                            reinterpret_cast<const Bytef*>(bytes.data()),
                            static_cast<uLong>(bytes.size())) != Z_OK) {
    throw Error("picture.png", "could not be made of " + std::to_string(bytes.size()) + " bytes");
  }
  result.resize(size);
  return result;
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
  append_chunk(png, "IDAT", compressed(rows));
  append_chunk(png, "IEND", "");
  return png;
}

}  // namespace sextant::pictures
