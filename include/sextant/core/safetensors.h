// Files of named arrays, .safetensors: eight bytes with the length of a JSON header, the header,
// the data. Hostile files get a clear error, never a crash.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sextant/core/npy.h"

namespace sextant {

struct SafetensorsFile {
  std::map<std::string, Array> tensors;         // by name
  std::map<std::string, std::string> metadata;  // the header's "__metadata__"
};

// Reads a file: F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8 and BOOL (any byte but 0
// becomes 1), up to 8 axes. The data has to be what the header says, all of it once: tensors may be
// named in any order, but leave no gap, do not overlap, and end with the file. Throws Error naming
// `where` (the path) and the tensor, a different text for each: no header, a header above 100 MB or
// cut off, JSON or UTF-8 that does not read, a name or a key that is there twice, a key that is
// missing or unknown, an unknown dtype, a shape that overflows or has more than 8 axes, offsets
// that are out of order or do not match the shape, data cut off or left over. Holds the file and
// the arrays in memory at the same time.
SafetensorsFile load_safetensors(const std::string& path);
SafetensorsFile parse_safetensors(std::string_view bytes, std::string_view where = "safetensors");

// Writes a temporary file, then renames it. The header is padded with spaces to a multiple of 8
// bytes; tensors with wide elements come first and then by name, so that each is aligned to its
// elements. Throws Error for an array whose bytes do not fit its shape, for a name or a text that
// is not UTF-8, for the name "__metadata__", and when the file cannot be written.
void save_safetensors(const std::string& path, const std::map<std::string, Array>& tensors,
                      const std::map<std::string, std::string>& metadata = {});
// The bytes that save_safetensors writes.
std::string format_safetensors(const std::map<std::string, Array>& tensors,
                               const std::map<std::string, std::string>& metadata = {});

}  // namespace sextant
