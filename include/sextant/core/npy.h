// Reads and writes NumPy's .npy files, versions 1 to 3, in C and Fortran order. A hostile file
// gives a clear error, never a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

// An array of any element type: contiguous, row-major, native byte order. A file of raw bfloat16
// has dtype uint16: set `dtype` to bfloat16 for it.
struct Array {
  DType dtype = DType::float32;
  Shape shape{0};
  Tensor<std::byte> bytes;  // [count() * dtype_size(dtype)]; bools are 0 or 1

  std::int64_t count() const noexcept { return shape.count(); }
  // Returns the elements as T. Throws Error unless T is the dtype (uint8_t also reads bool), and if
  // the size of `bytes` does not match shape and dtype.
  template <class T>
  View<const T> as() const& SEXTANT_LIFETIME_BOUND;
  template <class T>
  View<const T> as() const&& = delete;  // deleted for a temporary: name it first, or use to<T>()
  // Returns the elements converted to T, rounded once, to nearest, ties to even; for bool: whether
  // they are not 0. Throws Error if a value (also NaN) does not fit an integer T, or if `bytes` do
  // not fit the shape.
  template <class T>
  Tensor<T> to() const;
};

// Reads a file in C or Fortran order and either byte order into a row-major array in native byte
// order. It may have bool, integers up to 64 bits, float16, float32 or float64. .npy has no name
// for bfloat16: raw uint16 stays uint16; "V2" (ml_dtypes) and 'bfloat16' are read as bfloat16.
// Throws an Error with `where` (the path) and a different text for each mistake: not a .npy file,
// unknown version, header cut off or unreadable, unknown dtype, shape that overflows, data cut off
// or left over.
Array load_npy(const std::string& path);
Array parse_npy(std::string_view bytes, std::string_view where = "npy");

// Writes version 1 in C order and the byte order of this machine, bfloat16 as uint16, to a
// temporary file that is then renamed. T: bool, the integer types of 8 to 64 bits, float16,
// bfloat16, float, double.
template <class T>
void save_npy(const std::string& path, View<const T> values);
template <class T>
void save_npy(const std::string& path, const Tensor<T>& values) {
  save_npy<T>(path, values.view());
}
// Returns the bytes that save_npy writes.
template <class T>
std::string format_npy(View<const T> values);

}  // namespace sextant
