// Reads all tensors of a .safetensors file as arrays, and writes such files. tensor_file.h reads
// tensors one by one.
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

// Copies the whole file; any byte of BOOL except 0 becomes 1. Throws Error as TensorFile.
SafetensorsFile load_safetensors(const std::string& path);
SafetensorsFile load_safetensors(const TensorFile& file);

// A tensor to save, borrowed.
struct TensorBytes {
  DType dtype = DType::float32;
  Shape shape{0};
  std::span<const std::byte> bytes;  // little-endian, row-major
};

// Writes a temporary file, then renames it; copies no tensor. The header is padded with spaces to a
// multiple of 8 bytes. Tensors with wide elements come first, then by name, so that each is aligned
// to its elements. Throws Error for a tensor whose bytes do not fit its shape, for a name or a text
// that is not UTF-8, for the name "__metadata__", and if the file cannot be written.
void save_safetensors(const std::string& path, const std::map<std::string, TensorBytes>& tensors,
                      const std::map<std::string, std::string>& metadata = {});
void save_safetensors(const std::string& path, const std::map<std::string, Array>& tensors,
                      const std::map<std::string, std::string>& metadata = {});
// Returns the bytes that save_safetensors writes.
std::string format_safetensors(const std::map<std::string, Array>& tensors,
                               const std::map<std::string, std::string>& metadata = {});

}  // namespace sextant
