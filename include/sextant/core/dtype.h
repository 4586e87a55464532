// Defines the element types and conversions between float and 16-bit types, which round exactly
// once, to nearest, ties to even.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace sextant {

enum class DType {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64
};

// Returns whether the type is one of the four floating-point types.
constexpr bool is_float(DType dtype) noexcept {
  return dtype == DType::float16 || dtype == DType::bfloat16 || dtype == DType::float32 ||
         dtype == DType::float64;
}

// IEEE 754 binary16, a storage type: convert it to compute.
struct float16 {
  std::uint16_t bits = 0;
  float16() = default;
  // Rounds once, also from double; overflow gives infinity, NaN stays NaN.
  explicit float16(double value) noexcept;
  explicit operator float() const noexcept;
  explicit operator double() const noexcept { return static_cast<float>(*this); }
  friend bool operator==(float16 a, float16 b) noexcept {
    return static_cast<float>(a) == static_cast<float>(b);
  }
};

// The upper half of a binary32, a storage type: convert it to compute.
struct bfloat16 {
  std::uint16_t bits = 0;
  bfloat16() = default;
  // Rounds once, also from double; overflow gives infinity, NaN stays NaN.
  explicit bfloat16(double value) noexcept;
  explicit operator float() const noexcept;
  explicit operator double() const noexcept { return static_cast<float>(*this); }
  friend bool operator==(bfloat16 a, bfloat16 b) noexcept {
    return static_cast<float>(a) == static_cast<float>(b);
  }
};

template <class T>
inline constexpr bool is_floating = false;
template <>
inline constexpr bool is_floating<float16> = true;
template <>
inline constexpr bool is_floating<bfloat16> = true;
template <>
inline constexpr bool is_floating<float> = true;
template <>
inline constexpr bool is_floating<double> = true;

template <class T>
concept Floating = is_floating<T>;

// Gives the DType of a C++ type; does not compile for other types.
template <class T>
inline constexpr DType dtype_of =
    std::enable_if_t<std::is_same_v<T, bool>, std::integral_constant<DType, DType::boolean>>::value;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::int8;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::int16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::int32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::int64;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::uint8;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::uint16;
template <>
inline constexpr DType dtype_of<std::uint32_t> = DType::uint32;
template <>
inline constexpr DType dtype_of<std::uint64_t> = DType::uint64;
template <>
inline constexpr DType dtype_of<float16> = DType::float16;
template <>
inline constexpr DType dtype_of<bfloat16> = DType::bfloat16;
template <>
inline constexpr DType dtype_of<float> = DType::float32;
template <>
inline constexpr DType dtype_of<double> = DType::float64;

// Returns the bytes per element; 0 for an unknown type.
std::size_t dtype_size(DType dtype) noexcept;
std::string_view dtype_name(DType dtype) noexcept;  // returns "float32", "bool", ...
DType parse_dtype(std::string_view name);           // throws an Error that lists the names

}  // namespace sextant
