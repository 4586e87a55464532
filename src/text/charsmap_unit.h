// The double array of a model's normalisation table (the layout of Darts-clone): unit i leads with
// byte c to the unit i ^ offset(i) ^ c, if that one's label is c; a node with a leaf has its value
// at i ^ offset(i).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sextant::text {

struct CharsmapUnit {
  std::uint32_t bits;

  bool is_value() const { return bits >> 31 != 0; }
  std::uint32_t value() const { return bits & 0x7FFFFFFFu; }
  std::uint32_t label() const { return bits & 0xFFu; }
  bool has_leaf() const { return (bits >> 8 & 1) != 0; }
  std::uint32_t offset() const { return bits >> 10 << ((bits & 1u << 9) >> 6); }
};

inline std::uint32_t read_charsmap_unit(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) {
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  }
  return value;
}

}  // namespace sextant::text
