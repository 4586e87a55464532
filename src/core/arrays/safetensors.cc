// Named arrays from the bytes of a .safetensors file and back.
#include "sextant/core/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "core/arrays/safetensors_header.h"
#include "core/text/quoted_text.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");
constexpr std::size_t kLengthBytes = 8;

// Every byte of the data belongs to one tensor.
void check_places(std::vector<SafetensorsEntry>& entries, std::uint64_t data,
                  std::string_view where) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const SafetensorsEntry& entry : entries) {
    const auto fail = [&](const std::string& what) {
      throw Error(where, "tensor " + quoted_text(entry.name) + " " + what);
    };
    if (entry.end > data) {
      fail("ends at byte " + std::to_string(entry.end) + " of the data, but the file has only " +
           std::to_string(data) + ": it is cut off, or the offsets are wrong");
    }
    if (entry.begin < at) {
      fail("overlaps another: it begins at byte " + std::to_string(entry.begin) + ", must at " +
           std::to_string(at));
    }
    if (entry.begin > at) {
      fail("leaves a gap: it begins at byte " + std::to_string(entry.begin) + ", must at " +
           std::to_string(at));
    }
    at = entry.end;
  }
  if (at != data) {
    throw Error(where, "has " + std::to_string(data - at) + " bytes left over after its tensors");
  }
}

SafetensorsHeader header_of(const std::map<std::string, Array>& tensors,
                            const std::map<std::string, std::string>& metadata,
                            std::vector<std::string_view>& data) {
  SafetensorsHeader header;
  header.metadata = metadata;
  for (const auto& [name, array] : tensors) {
    const std::size_t size = dtype_size(array.dtype);
    const std::int64_t bytes = array.bytes.count();
    if (size == 0 || bytes % static_cast<std::int64_t>(size) != 0 ||
        bytes / static_cast<std::int64_t>(size) != array.count()) {
      throw Error("save_safetensors", "tensor " + quoted_text(name) + " must hold the bytes of " +
                                          array.shape.to_string() + " elements of " +
                                          std::string(dtype_name(array.dtype)) + ", got " +
                                          std::to_string(bytes));
    }
    header.entries.push_back({name, array.dtype, array.shape, 0, 0});
  }
  std::stable_sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return dtype_size(a.dtype) > dtype_size(b.dtype);
  });
  std::uint64_t at = 0;
  for (SafetensorsEntry& entry : header.entries) {
    const Array& array = tensors.at(entry.name);
    const auto bytes = static_cast<std::size_t>(array.bytes.count());
    entry.begin = at;
    entry.end = at += bytes;
    data.emplace_back(reinterpret_cast<const char*>(array.bytes.data()), bytes);
  }
  return header;
}

}  // namespace

SafetensorsFile parse_safetensors(std::string_view bytes, std::string_view where) {
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes) {
    throw Error(
        where, "is not a .safetensors file: it is shorter than the 8 bytes of its header's length");
  }
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kLargestSafetensorsHeader) {
    throw Error(where, "is not a .safetensors file: its header would be " + std::to_string(length) +
                           " bytes long, must be at most 100000000");
  }
  bytes.remove_prefix(kLengthBytes);
  if (length > bytes.size()) {
    throw Error(where, "is cut off inside its header: it says " + std::to_string(length) +
                           " bytes, but " + std::to_string(bytes.size()) + " are there");
  }
  SafetensorsHeader header =
      parse_safetensors_header(bytes.substr(0, static_cast<std::size_t>(length)), where);
  const std::string_view data = bytes.substr(static_cast<std::size_t>(length));
  // Before anything is allocated: a small file cannot ask for much memory.
  check_places(header.entries, data.size(), where);

  SafetensorsFile file;
  file.metadata = std::move(header.metadata);
  for (const SafetensorsEntry& entry : header.entries) {
    Array& array = file.tensors[entry.name];
    const auto size = static_cast<std::size_t>(entry.end - entry.begin);
    array.dtype = entry.dtype;
    array.shape = entry.shape;
    array.bytes = Tensor<std::byte>::uninitialized(Shape{static_cast<std::int64_t>(size)});
    if (size == 0) continue;
    std::memcpy(array.bytes.data(), data.data() + entry.begin, size);
    if (entry.dtype == DType::boolean) {
      // Any other byte in a bool would be undefined behaviour later.
      for (std::byte& each : array.bytes.span()) each = std::byte{each != std::byte{0}};
    }
  }
  return file;
}

SafetensorsFile load_safetensors(const std::string& path) {
  return parse_safetensors(read_file(path), path);
}

void save_safetensors(const std::string& path, const std::map<std::string, Array>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  std::vector<std::string_view> pieces(1);
  const std::string header = format_safetensors_header(header_of(tensors, metadata, pieces));
  pieces[0] = header;
  write_file(path, pieces);
}

std::string format_safetensors(const std::map<std::string, Array>& tensors,
                               const std::map<std::string, std::string>& metadata) {
  std::vector<std::string_view> pieces;
  std::string bytes = format_safetensors_header(header_of(tensors, metadata, pieces));
  for (const std::string_view piece : pieces) bytes += piece;
  return bytes;
}

}  // namespace sextant
