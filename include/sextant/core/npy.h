// NumPy's .npy files, versions 1 to 3, C and Fortran order; hostile files get a clear error, never
// a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

// An array of any element type: contiguous, row-major, native byte order.
struct Array {
  DType dtype = DType::float32;
  Shape shape;
  Tensor<std::byte> bytes;  // count() * dtype_size(dtype) of them

  std::int64_t count() const noexcept { return shape.count(); }
  // The elements as T; throws Error unless T is the dtype (bool is read as uint8_t too).
  template <class T>
  View<const T> as() const;
  // The elements converted to T (round to nearest even; integers and bools too); throws Error when
  // an integer does not fit.
  template <class T>
  Tensor<T> to() const;
};

// Reads a file. Fortran order and big-endian data come back row-major and native. bfloat16 has no
// .npy name: files carry raw uint16 (or ml_dtypes' "V2" with descr 'bfloat16'), and the caller says
// what they are. Throws Error, a different text for each: not a .npy file, unknown version, header
// too long / not readable, unknown dtype, shape that overflows, data cut off or left over.
Array load_npy(const std::string& path);
Array parse_npy(std::string_view bytes, std::string_view where = "npy");

// Writes version 1 (2 when the header is long), C order, little-endian; bfloat16 as uint16.
// Temporary file, then rename.
template <class T>
void save_npy(const std::string& path, View<const T> values);
template <class T>
void save_npy(const std::string& path, const Tensor<T>& values) {
  save_npy<T>(path, values.view());
}
template <class T>
std::string format_npy(View<const T> values);

}  // namespace sextant
