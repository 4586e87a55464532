// A file that is part of the library, as cmake/SextantEmbed.cmake makes it.
#pragma once

#include <cstddef>
#include <string>

namespace sextant {

template <std::size_t kSize>
std::string embedded_text(const unsigned char (&bytes)[kSize]) {
  return {reinterpret_cast<const char*>(bytes), kSize};
}

}  // namespace sextant
