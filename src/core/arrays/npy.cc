// Arrays from .npy bytes and back: sizes, byte order, memory order.
#include "sextant/core/npy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/arrays/each_dtype.h"
#include "core/arrays/npy_header.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

void swap_bytes(Tensor<std::byte>& bytes, std::size_t size) {
  std::byte* const end = bytes.data() + bytes.count();
  for (std::byte* each = bytes.data(); each != end; each += size) std::reverse(each, each + size);
}

// Converts from column-major to row-major; T replaces any element of its size.
template <class T>
Tensor<std::byte> to_row_major(const Tensor<std::byte>& bytes, const Shape& shape) {
  std::array<std::int64_t, kMaxRank> strides{};
  std::int64_t stride = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    strides[static_cast<std::size_t>(axis)] = stride;
    stride *= shape[axis];
  }
  const std::span<const std::int64_t> used(strides.data(), static_cast<std::size_t>(shape.rank()));
  const Tensor<T> rows =
      copy_of(View<const T>(reinterpret_cast<const T*>(bytes.data()), shape, used));
  auto result = Tensor<std::byte>::uninitialized(bytes.shape());
  std::memcpy(result.data(), rows.data(), static_cast<std::size_t>(bytes.count()));
  return result;
}

Tensor<std::byte> to_row_major(const Tensor<std::byte>& bytes, const Shape& shape,
                               std::size_t size) {
  switch (size) {
    case 1:
      return to_row_major<std::uint8_t>(bytes, shape);
    case 2:
      return to_row_major<std::uint16_t>(bytes, shape);
    case 4:
      return to_row_major<std::uint32_t>(bytes, shape);
    default:
      return to_row_major<std::uint64_t>(bytes, shape);
  }
}

template <class T>
std::string_view bytes_of(View<const T> values) {
  return {reinterpret_cast<const char*>(values.data()),
          static_cast<std::size_t>(values.count()) * sizeof(T)};
}

}  // namespace

Array parse_npy(std::string_view bytes, std::string_view where) {
  const NpyHeader header = parse_npy_header(bytes, where);
  const std::string_view data = bytes.substr(header.data_begin);
  const std::size_t size = dtype_size(header.dtype);
  // Compared before anything is allocated: a small file cannot ask for much memory.
  const auto count = static_cast<std::size_t>(header.shape.count());
  if (count > data.size() / size) {
    throw Error(where, "is cut off: shape " + header.shape.to_string() + " of " +
                           std::string(dtype_name(header.dtype)) + " needs more than the " +
                           std::to_string(data.size()) + " bytes that follow its header");
  }
  if (count * size < data.size()) {
    throw Error(where, "has " + std::to_string(data.size() - count * size) +
                           " bytes left over after shape " + header.shape.to_string() + " of " +
                           std::string(dtype_name(header.dtype)));
  }
  Array array;
  array.dtype = header.dtype;
  array.shape = header.shape;
  array.bytes = Tensor<std::byte>::uninitialized(Shape{static_cast<std::int64_t>(data.size())});
  if (data.empty()) return array;
  std::memcpy(array.bytes.data(), data.data(), data.size());
  if (header.swapped) swap_bytes(array.bytes, size);
  if (header.fortran && header.shape.rank() > 1) {
    array.bytes = to_row_major(array.bytes, header.shape, size);
  }
  if (header.dtype == DType::boolean) {
    // Any other byte in a bool would be undefined behaviour later.
    for (std::byte& each : array.bytes.span()) each = std::byte{each != std::byte{0}};
  }
  return array;
}

Array load_npy(const std::string& path) { return parse_npy(read_file(path), path); }

template <class T>
std::string format_npy(View<const T> values) {
  if (!values.is_contiguous()) return format_npy<T>(copy_of(values));
  std::string text = format_npy_header(dtype_of<T>, values.shape());
  return text.append(bytes_of(values));
}

template <class T>
void save_npy(const std::string& path, View<const T> values) {
  if (!values.is_contiguous()) {
    const Tensor<T> rows = copy_of(values);
    return save_npy<T>(path, rows.view());
  }
  const std::string header = format_npy_header(dtype_of<T>, values.shape());
  const std::array<std::string_view, 2> pieces = {header, bytes_of(values)};
  write_file(path, pieces);
}

#define SEXTANT_INSTANTIATE(T)                       \
  template std::string format_npy<T>(View<const T>); \
  template void save_npy<T>(const std::string&, View<const T>);
SEXTANT_FOR_EACH_DTYPE(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
