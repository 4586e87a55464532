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

// An array of any element type: contiguous, row-major, native byte order. A file of raw bfloat16
// says uint16: set `dtype` to bfloat16 for those.
struct Array {
  DType dtype = DType::float32;
  Shape shape{0};
  Tensor<std::byte> bytes;  // [count() * dtype_size(dtype)]; bools are 0 or 1

  std::int64_t count() const noexcept { return shape.count(); }
  // The elements as T; throws Error unless T is the dtype (bool is read as uint8_t too), and when
  // the size of `bytes` is not what shape and dtype say.
  template <class T>
  View<const T> as() const& SEXTANT_LIFETIME_BOUND;
  template <class T>
  View<const T> as() const&& = delete;  // of a temporary: name it first, or take to<T>()
  // The elements converted to T, rounded once, to nearest, ties to even; to bool: whether not 0.
  // Throws Error when a value does not fit an integer T, NaN included, or when `bytes` do not fit
  // the shape, as as() does.
  template <class T>
  Tensor<T> to() const;
};

// Reads a file, C or Fortran order, either byte order; it comes back row-major and native. Bool,
// integers up to 64 bits, float16, float32 and float64; .npy has no name for bfloat16: files carry
// raw uint16, or "V2" (ml_dtypes) or 'bfloat16', which are read as bfloat16. Throws Error naming
// `where` (the path), a different text for each: not a .npy file, unknown version, header cut off
// or not readable, unknown dtype, shape that overflows, data cut off or left over.
Array load_npy(const std::string& path);
Array parse_npy(std::string_view bytes, std::string_view where = "npy");

// Writes version 1, C order, the byte order of this machine; bfloat16 as uint16. Temporary file,
// then rename. T: bool, the integer types of 8 to 64 bits, float16, bfloat16, float, double.
template <class T>
void save_npy(const std::string& path, View<const T> values);
template <class T>
void save_npy(const std::string& path, const Tensor<T>& values) {
  save_npy<T>(path, values.view());
}
// The bytes that save_npy writes.
template <class T>
std::string format_npy(View<const T> values);

}  // namespace sextant
