// Provides a zlib stream (RFC 1950) and the checksum of chunks for PNG. The folder zlib/
// compresses; stored/ does not, for builds without zlib: WebAssembly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sextant::pictures {

// Throws Error for more bytes than one stream can hold.
std::string zlib_stream(std::string_view bytes);
std::uint32_t crc32_of(std::string_view bytes);

}  // namespace sextant::pictures
