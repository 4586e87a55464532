// Named arrays from .safetensors files and back.
#include "sextant/core/safetensors.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "core/arrays/each_dtype.h"
#include "core/arrays/safetensors_header.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

std::map<std::string, TensorBytes> bytes_of(const std::map<std::string, Array>& tensors) {
  std::map<std::string, TensorBytes> borrowed;
  for (const auto& [name, array] : tensors) {
    borrowed.emplace(name, TensorBytes{array.dtype, array.shape, array.bytes.span()});
  }
  return borrowed;
}

SafetensorsHeader header_of(const std::map<std::string, TensorBytes>& tensors,
                            const std::map<std::string, std::string>& metadata,
                            std::vector<std::string_view>& data) {
  SafetensorsHeader header;
  header.metadata = metadata;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t size = dtype_size(tensor.dtype);
    const std::int64_t bytes = std::ssize(tensor.bytes);
    if (size == 0 || bytes % static_cast<std::int64_t>(size) != 0 ||
        bytes / static_cast<std::int64_t>(size) != tensor.shape.count()) {
      throw Error("save_safetensors", "tensor " + printable_quote(name) +
                                          " must hold the bytes of " + tensor.shape.to_string() +
                                          " elements of " + std::string(dtype_name(tensor.dtype)) +
                                          ", got " + std::to_string(bytes));
    }
    StoredTensor& entry = header.entries.emplace_back();
    entry.name = name;
    entry.dtype = tensor.dtype;
    entry.shape = tensor.shape;
  }
  std::stable_sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return dtype_size(a.dtype) > dtype_size(b.dtype);
  });
  std::uint64_t at = 0;
  for (StoredTensor& entry : header.entries) {
    const std::span<const std::byte> bytes = tensors.at(entry.name).bytes;
    entry.begin = at;
    entry.end = at += bytes.size();
    data.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return header;
}

}  // namespace

SafetensorsFile load_safetensors(const TensorFile& from) {
  SafetensorsFile file;
  file.metadata = from.metadata();
  for (const StoredTensor& tensor : from.tensors()) {
    Array& array = file.tensors[tensor.name];
    array.dtype = tensor.dtype;
    array.shape = tensor.shape;
    array.bytes = Tensor<std::byte>::uninitialized(Shape{static_cast<std::int64_t>(tensor.size())});
#define SEXTANT_READ(T)                                             \
  if (tensor.dtype == dtype_of<T>) {                                \
    from.read(tensor, 0,                                            \
              std::span(reinterpret_cast<T*>(array.bytes.data()),   \
                        static_cast<std::size_t>(tensor.count()))); \
  }
    SEXTANT_FOR_EACH_DTYPE(SEXTANT_READ)
#undef SEXTANT_READ
  }
  return file;
}

SafetensorsFile load_safetensors(const std::string& path) {
  return load_safetensors(TensorFile::open(path));
}

void save_safetensors(const std::string& path, const std::map<std::string, TensorBytes>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<std::string_view> pieces(1);
  const std::string header = format_safetensors_header(header_of(tensors, metadata, pieces));
  pieces[0] = header;
  write_file(path, pieces);
}

void save_safetensors(const std::string& path, const std::map<std::string, Array>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  save_safetensors(path, bytes_of(tensors), metadata);
}

std::string format_safetensors(const std::map<std::string, Array>& tensors,
                               const std::map<std::string, std::string>& metadata) {
  std::vector<std::string_view> pieces;
  std::string bytes = format_safetensors_header(header_of(bytes_of(tensors), metadata, pieces));
  for (const std::string_view piece : pieces) bytes += piece;
  return bytes;
}

}  // namespace sextant
