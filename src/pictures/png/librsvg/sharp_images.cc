// Embedded PNG images, decoded, enlarged and put back.
#include "pictures/png/librsvg/sharp_images.h"

#include <cairo.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "core/text/base64.h"
#include "pictures/png/pixels.h"
#include "pictures/png/png_writer.h"
#include "sextant/core/numbers.h"

namespace sextant::pictures {
namespace {

struct Source {
  const std::string& bytes;
  std::size_t read = 0;
};

cairo_status_t read_bytes(void* closure, unsigned char* to, unsigned int count) {
  auto& source = *static_cast<Source*>(closure);
  if (source.bytes.size() - source.read < count) return CAIRO_STATUS_READ_ERROR;
  std::memcpy(to, source.bytes.data() + source.read, count);
  source.read += count;
  return CAIRO_STATUS_SUCCESS;
}

// Nearest pixels, `across` x `down` of them in all, of colours that a palette has room for. Empty
// for another image, and for one that is as large.
std::string enlarged(const std::string& bytes, std::size_t across, std::size_t down) {
  Source source{bytes};
  using Destroy = decltype(&cairo_surface_destroy);
  const std::unique_ptr<cairo_surface_t, Destroy> image(
      cairo_image_surface_create_from_png_stream(read_bytes, &source), cairo_surface_destroy);
  if (cairo_surface_status(image.get()) != CAIRO_STATUS_SUCCESS ||
      cairo_image_surface_get_format(image.get()) != CAIRO_FORMAT_RGB24) {
    return "";
  }
  const auto width = static_cast<std::size_t>(cairo_image_surface_get_width(image.get()));
  const auto height = static_cast<std::size_t>(cairo_image_surface_get_height(image.get()));
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(image.get()));
  if (across < width || down < height || (across == width && down == height)) return "";
  const unsigned char* data = cairo_image_surface_get_data(image.get());
  std::map<std::uint32_t, std::uint8_t> numbers;
  std::vector<Rgb> colors;
  std::vector<std::uint8_t> pixels(width * height), larger(across * down);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      std::uint32_t pixel = 0;
      std::memcpy(&pixel, data + y * stride + 4 * x, sizeof pixel);
      pixel &= 0xffffff;
      if (!numbers.contains(pixel)) {
        if (colors.size() == 256) return "";
        numbers[pixel] = static_cast<std::uint8_t>(colors.size());
        colors.push_back({static_cast<std::uint8_t>(pixel >> 16),
                          static_cast<std::uint8_t>(pixel >> 8), static_cast<std::uint8_t>(pixel)});
      }
      pixels[y * width + x] = numbers[pixel];
    }
  }
  for (std::size_t y = 0; y < down; ++y) {
    const std::uint8_t* row = &pixels[y * height / down * width];
    for (std::size_t x = 0; x < across; ++x) larger[y * across + x] = row[x * width / across];
  }
  return write_png(larger, across, colors);
}

double attribute_number(std::string_view element, std::string_view name) {
  const std::string begin = " " + std::string(name) + "=\"";
  if (element.find(begin) == element.npos) return 0;
  const std::size_t at = element.find(begin) + begin.size();
  return parse_double(element.substr(at, element.find('"', at) - at), "svg." + std::string(name));
}

}  // namespace

std::string with_sharp_images(std::string_view svg, double scale) {
  constexpr std::string_view kImage = "<image ", kData = "href=\"data:image/png;base64,";
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = svg.find(kImage); at != svg.npos; at = svg.find(kImage, at + 1)) {
    const std::size_t data = svg.find(kData, at), end = svg.find('>', at);
    if (data >= end) continue;
    const std::size_t begin = data + kData.size(), close = svg.find('"', begin);
    const std::string_view element = svg.substr(at, data - at);
    const auto pixels = [&](const char* side) {
      return static_cast<std::size_t>(std::round(attribute_number(element, side) * scale));
    };
    const std::string larger = enlarged(from_base64(svg.substr(begin, close - begin)).value_or(""),
                                        pixels("width"), pixels("height"));
    if (larger.empty()) continue;
    result += std::string(svg.substr(done, begin - done)) + to_base64(larger);
    done = close;
  }
  return result + std::string(svg.substr(done));
}

}  // namespace sextant::pictures
