// Compressed by zlib.
#include "pictures/png/compress.h"

#include <zlib.h>

#include <limits>

#include "sextant/core/error.h"

namespace sextant::pictures {
namespace {

const Bytef* data_of(std::string_view bytes) {
  return reinterpret_cast<const Bytef*>(bytes.data());
}

}  // namespace

std::string zlib_stream(std::string_view bytes) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  uLongf size = bytes.size() < kMost ? compressBound(static_cast<uLong>(bytes.size())) : 0;
  std::string result(size, '\0');
  if (size == 0 || compress(reinterpret_cast<Bytef*>(result.data()), &size, data_of(bytes),
                            static_cast<uLong>(bytes.size())) != Z_OK) {
    throw Error("picture.png", "could not be made of " + std::to_string(bytes.size()) + " bytes");
  }
  result.resize(size);
  return result;
}

std::uint32_t crc32_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, data_of(bytes), bytes.size()));
}

}  // namespace sextant::pictures
