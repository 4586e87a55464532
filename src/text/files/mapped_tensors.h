// The arrays of a .safetensors file where they lie: mapped, not copied.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant::text {

struct MappedTensor {
  DType dtype = DType::float32;
  Shape shape{0};
  const void* data = nullptr;  // not always aligned to its elements
};

struct MappedTensors {
  std::shared_ptr<const void> owner;  // while it lives the file is mapped
  std::map<std::string, MappedTensor> tensors;
  std::map<std::string, std::string> metadata;
};

// Throws Error as load_safetensors(), but that bytes of bool are as the file has them.
MappedTensors map_safetensors(const std::string& path);

// Gives memory back that holds what was read of a mapped file, whole pages; they are read anew when
// they are used.
void forget_pages(const void* first, std::size_t bytes) noexcept;

}  // namespace sextant::text
