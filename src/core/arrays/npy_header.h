// The header of a .npy file: a magic word, a length and a Python dictionary of three entries.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

struct NpyHeader {
  DType dtype = DType::float32;
  bool swapped = false;  // the other byte order than this machine's
  bool fortran = false;
  Shape shape;
  std::size_t data_begin = 0;  // bytes
};

// Throws Error(where, ...) for anything but a complete header of an array that we can hold.
NpyHeader parse_npy_header(std::string_view bytes, std::string_view where);

// Everything before the data, a multiple of 64 bytes long.
std::string format_npy_header(DType dtype, const Shape& shape);

}  // namespace sextant
