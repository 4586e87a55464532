// Any bytes as a .npy file: an array that holds together, or an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sextant/core/error.h"
#include "sextant/core/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const sextant::Array array = sextant::parse_npy({reinterpret_cast<const char*>(data), size});
    const auto bytes = static_cast<std::size_t>(array.count()) * sextant::dtype_size(array.dtype);
    if (bytes > size || array.bytes.count() != static_cast<std::int64_t>(bytes)) std::abort();
    // What we write of it reads back the same.
    const sextant::Tensor<double> values = array.to<double>();
    const sextant::Array again = sextant::parse_npy(sextant::format_npy<double>(values));
    if (again.shape != array.shape || again.dtype != sextant::DType::float64) std::abort();
  } catch (const sextant::Error&) {
  }
  return 0;
}
