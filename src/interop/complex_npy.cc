// Complex numbers are stored as pairs of real ones: only the header changes.
#include "interop/complex_npy.h"

#include <array>
#include <utility>

namespace sextant::interop {

std::string with_real_parts(std::string_view bytes) {
  constexpr std::size_t kPrefix = 10;  // magic, version 1.0, two bytes of length
  constexpr std::string_view kMagic("\x93NUMPY\x01\x00", 8);
  if (bytes.size() < kPrefix || !bytes.starts_with(kMagic)) return std::string(bytes);
  const auto byte = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at]));
  };
  const std::size_t length = byte(8) + (byte(9) << 8);
  if (bytes.size() < kPrefix + length) return std::string(bytes);
  std::string header(bytes.substr(kPrefix, length));
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kReal = {
      {{"'<c8'", "'<f4'"}, {"'<c16'", "'<f8'"}}};
  for (const auto& [complex, real] : kReal) {
    const auto type = header.find(complex);
    if (type == std::string::npos || header.find("True") != std::string::npos) continue;
    header.replace(type, complex.size(), real);
    const auto end = header.find(')');
    if (end == std::string::npos) return std::string(bytes);
    const char before = end == 0 ? ' ' : header[end - 1];
    header.replace(end, 1, before == ',' ? " 2)" : before == '(' ? "2,)" : ", 2)");
    std::string file(kMagic);
    file += static_cast<char>(header.size() & 0xFF);
    file += static_cast<char>(header.size() >> 8 & 0xFF);
    return file + header + std::string(bytes.substr(kPrefix + length));
  }
  return std::string(bytes);
}

}  // namespace sextant::interop
