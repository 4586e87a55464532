// Blocks of bytes as they are (RFC 1951, 3.2.4), and the two checksums.
#include "pictures/png/compress.h"

#include <algorithm>

#include "sextant/core/error.h"

namespace sextant::pictures {
namespace {

constexpr std::size_t kLongestBlock = 65535;
constexpr std::size_t kMost = std::size_t{1} << 30;

// RFC 1950, section 9.
std::uint32_t adler32(std::string_view bytes) {
  constexpr std::uint32_t kModulus = 65521;
  std::uint32_t a = 1, b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<unsigned char>(byte)) % kModulus;
    b = (b + a) % kModulus;
  }
  return b << 16 | a;
}

void append_low_first(std::string& bytes, std::size_t value) {
  bytes += static_cast<char>(value & 0xff);
  bytes += static_cast<char>(value >> 8 & 0xff);
}

}  // namespace

std::string zlib_stream(std::string_view bytes) {
  if (bytes.size() > kMost) {
    throw Error("picture.png", "could not be made of " + std::to_string(bytes.size()) + " bytes");
  }
  std::string stream = "\x78\x01";  // deflate, a window of 32 KiB, the fastest level
  for (std::size_t begin = 0; begin == 0 || begin < bytes.size(); begin += kLongestBlock) {
    const std::string_view block = bytes.substr(begin, kLongestBlock);
    stream += begin + kLongestBlock >= bytes.size() ? '\1' : '\0';  // the last one
    append_low_first(stream, block.size());
    append_low_first(stream, ~block.size());
    stream += block;
  }
  const std::uint32_t sum = adler32(bytes);
  for (int shift = 24; shift >= 0; shift -= 8) stream += static_cast<char>(sum >> shift & 0xff);
  return stream;
}

// The PNG specification, annex D.
std::uint32_t crc32_of(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1u)));
  }
  return ~crc;
}

}  // namespace sextant::pictures
