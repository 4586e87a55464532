// All tensors of a .safetensors file as arrays, and such files written. A file's tensors one by
// one: tensor_file.h.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "sextant/core/npy.h"
#include "sextant/core/tensor_file.h"

namespace sextant {

struct SafetensorsFile {
  std::map<std::string, Array> tensors;         // by name
  std::map<std::string, std::string> metadata;  // the header's "__metadata__"
};

// A copy of all of it; of BOOL, any byte but 0 becomes 1. Throws Error as TensorFile.
SafetensorsFile load_safetensors(const std::string& path);
SafetensorsFile load_safetensors(const TensorFile& file);

// What is saved, borrowed.
struct TensorBytes {
  DType dtype = DType::float32;
  Shape shape{0};
  std::span<const std::byte> bytes;  // little-endian, row-major
};

// Writes a temporary file, then renames it; copies no tensor. The header is padded with spaces to a
// multiple of 8 bytes; tensors with wide elements come first and then by name, so that each is
// aligned to its elements. Throws Error for a tensor whose bytes do not fit its shape, for a name
// or a text that is not UTF-8, for the name "__metadata__", and when the file cannot be written.
void save_safetensors(const std::string& path, const std::map<std::string, TensorBytes>& tensors,
                      const std::map<std::string, std::string>& metadata = {});
void save_safetensors(const std::string& path, const std::map<std::string, Array>& tensors,
                      const std::map<std::string, std::string>& metadata = {});
// The bytes that save_safetensors writes.
std::string format_safetensors(const std::map<std::string, Array>& tensors,
                               const std::map<std::string, std::string>& metadata = {});

}  // namespace sextant
