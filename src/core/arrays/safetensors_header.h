// The header of a .safetensors file: names, element types, shapes and offsets of the arrays.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor_file.h"

namespace sextant {

struct SafetensorsHeader {
  std::vector<StoredTensor> entries;  // in the order of the header
  std::map<std::string, std::string> metadata;
};

inline constexpr std::uint64_t kLargestSafetensorsHeader = 100'000'000;  // bytes, as others have it

// `json` is the header without its length. Throws Error(where, ...) for anything except well-formed
// entries whose offsets fit their shapes; it does not check how entries are placed relative to each
// other.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::string_view where);

// With its length in front, a multiple of 8 bytes long.
std::string format_safetensors_header(const SafetensorsHeader& header);

}  // namespace sextant
