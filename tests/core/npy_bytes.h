// Bytes of .npy files for tests, and the elements of views as lists.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "sextant/core/npy.h"
#include "sextant/core/tensor.h"

namespace sextant {

// numpy.save of [[0, 1, 2], [3, 4, 5.5]] as float32 by NumPy 1.24.2, byte for byte.
inline std::string saved_by_numpy() {
  using namespace std::string_literals;
  return "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"s +
         std::string(58, ' ') +
         "\n\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xb0\x40"s;
}

// A whole file around any header text and data.
inline std::string file(const std::string& header, const std::string& data, int version = 1) {
  using namespace std::string_literals;
  std::string bytes = "\x93NUMPY"s + static_cast<char>(version) + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

// The dictionary as NumPy spells it.
inline std::string header(const std::string& descr, const std::string& shape,
                          const char* fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::vector<std::remove_const_t<T>> list(View<T> view) {
  const auto copy = copy_of(view);
  return {copy.span().begin(), copy.span().end()};
}
template <class T>
std::vector<T> list(const Tensor<T>& tensor) {
  return list(tensor.view());
}
template <class T>
std::vector<T> elements(const Array& array) {
  return list(array.as<T>());
}

}  // namespace sextant
