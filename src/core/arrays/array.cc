// The elements of an array of any type as one type: looked at, or converted with one rounding.
#include <cmath>
#include <limits>
#include <utility>

#include "core/arrays/convert.h"
#include "core/arrays/each_dtype.h"
#include "core/threads/interruption.h"
#include "sextant/core/npy.h"

namespace sextant {
namespace {

// Returns the double nearest to an integer. Beyond 2^53, if bits are lost, the last bit is one
// ("round to odd"), so that rounding it again to a shorter type is as good as rounding once.
double sticky_double(std::uint64_t magnitude, bool negative) noexcept {
  if (magnitude >> 53 != 0) {
    const bool lost = (magnitude & 0xfff) != 0;
    magnitude = (magnitude & ~std::uint64_t{0xfff}) | (lost ? 0x800U : 0U);
  }
  const auto value = static_cast<double>(magnitude);
  return negative ? -value : value;
}

[[noreturn]] void does_not_fit(DType to) {
  throw Error("array.to", "must hold values that fit " + std::string(dtype_name(to)));
}

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_same_v<From, bool>) {
    return convert<To>(static_cast<std::uint8_t>(value));
  } else if constexpr (is_floating<From> && is_floating<To>) {
    return static_cast<To>(static_cast<double>(value));
  } else if constexpr (is_floating<From>) {
    const double nearest = std::nearbyint(static_cast<double>(value));
    const double end =
        std::ldexp(1.0, std::numeric_limits<To>::digits);  // exact, and just too large
    if (!(nearest >= static_cast<double>(std::numeric_limits<To>::min()) && nearest < end)) {
      does_not_fit(dtype_of<To>);
    }
    return static_cast<To>(nearest);
  } else if constexpr (std::is_same_v<To, double> || std::is_same_v<To, float>) {
    return static_cast<To>(value);
  } else if constexpr (is_floating<To>) {
    const bool negative = std::cmp_less(value, 0);
    const auto bits = static_cast<std::uint64_t>(value);  // NOLINT(bugprone-signed-char-misuse)
    return To(sticky_double(negative ? 0 - bits : bits, negative));
  } else {
    if (!std::in_range<To>(value)) does_not_fit(dtype_of<To>);
    return static_cast<To>(value);
  }
}

template <class To, class From>
void convert_all(const std::byte* from, std::span<To> to) {
  if constexpr (std::is_same_v<From, bool>) {  // any byte but 0 is true
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(from);
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = convert<To>(bytes[i] != 0);
    return;
  }
  const From* values = reinterpret_cast<const From*>(from);
  in_parts(std::ssize(to), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to.data()[i] = convert<To>(values[i]);
  });
}

// Anyone can put an array together, so shape, type and bytes need not fit.
void check_bytes(const Array& array, const char* where) {
  const auto size = static_cast<std::int64_t>(dtype_size(array.dtype));
  const std::int64_t bytes = array.bytes.count();
  if (size > 0 && bytes % size == 0 && bytes / size == array.count()) return;
  throw Error(where, "must hold the bytes of " + array.shape.to_string() + " elements of " +
                         std::string(dtype_name(array.dtype)) + ", got " + std::to_string(bytes));
}

}  // namespace

template <class T>
View<const T> Array::as() const& {
  const bool fits =
      dtype == dtype_of<T> || (dtype == DType::boolean && std::is_same_v<T, std::uint8_t>);
  if (!fits) {
    throw Error("array.as", "must be the dtype of the array, " + std::string(dtype_name(dtype)) +
                                ", got " + std::string(dtype_name(dtype_of<T>)));
  }
  check_bytes(*this, "array.as");
  return {reinterpret_cast<const T*>(bytes.data()), shape};
}

template <class T>
void convert_elements(DType from, const std::byte* elements, std::span<T> to) {
#define SEXTANT_CONVERT(From) \
  if (from == dtype_of<From>) convert_all<T, From>(elements, to);
  SEXTANT_FOR_EACH_DTYPE(SEXTANT_CONVERT)
#undef SEXTANT_CONVERT
}

template <class T>
Tensor<T> Array::to() const {
  check_bytes(*this, "array.to");
  auto result = Tensor<T>::uninitialized(shape);
  convert_elements<T>(dtype, bytes.data(), result.span());
  return result;
}

#define SEXTANT_INSTANTIATE(T)                  \
  template View<const T> Array::as<T>() const&; \
  template Tensor<T> Array::to<T>() const;      \
  template void convert_elements(DType, const std::byte*, std::span<T>);
SEXTANT_FOR_EACH_DTYPE(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
