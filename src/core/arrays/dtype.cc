// Converts float16 and bfloat16 to and from larger types, on the bit patterns, with integers only.
#include "sextant/core/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "core/text/strings.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

// Rounds a binary64 pattern to a 16-bit format with one sign bit, `exponent_bits` and the rest
// fraction. Going through float32 instead would round twice: 1 + 2^-11 + 2^-40 is above the
// midpoint of two float16 but rounds to it in float32.
template <int exponent_bits>
std::uint16_t round_to_16_bits(double value) noexcept {
  constexpr int kFractionBits = 15 - exponent_bits;
  constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  constexpr std::uint64_t kInfinity = ((std::uint64_t{1} << exponent_bits) - 1) << kFractionBits;
  constexpr std::uint64_t kQuiet = std::uint64_t{1} << (kFractionBits - 1);

  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = bits >> 63 << 15;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  if (exponent == 0x7ff) {
    const std::uint64_t payload = fraction == 0 ? 0 : kQuiet | fraction >> (52 - kFractionBits);
    return static_cast<std::uint16_t>(sign | kInfinity | payload);
  }
  if (exponent == 0) return static_cast<std::uint16_t>(sign);  // far below the smallest denormal

  const std::uint64_t significand = fraction | std::uint64_t{1} << 52;
  const int biased = exponent - 1023 + kBias;
  const int drop = 52 - kFractionBits + std::max(0, 1 - biased);  // denormals lose more bits
  if (drop > 53) return static_cast<std::uint16_t>(sign);         // below half the smallest one
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  const std::uint64_t rest = significand & (2 * half - 1);
  std::uint64_t kept = significand >> drop;
  if (rest > half || (rest == half && kept % 2 == 1)) ++kept;
  // `kept` still has the leading one of a normal number, worth one step of the exponent; a carry is
  // worth one more.
  const auto below = static_cast<std::uint64_t>(std::max(biased, 1) - 1);
  return static_cast<std::uint16_t>(sign | std::min((below << kFractionBits) + kept, kInfinity));
}

constexpr std::array<std::string_view, 13> kNames = {
    "bool",   "int8",   "int16",   "int32",    "int64",   "uint8",  "uint16",
    "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};
constexpr std::array<std::size_t, 13> kSizes = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};

}  // namespace

float16::float16(double value) noexcept : bits(round_to_16_bits<5>(value)) {}

float16::operator float() const noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1f;
  const std::uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;  // exact: 10 bits
    return sign == 0 ? magnitude : -magnitude;
  }
  const std::uint32_t biased = exponent == 0x1f ? 0xff : exponent + 127 - 15;
  return std::bit_cast<float>(sign | biased << 23 | fraction << 13);
}

bfloat16::bfloat16(double value) noexcept : bits(round_to_16_bits<8>(value)) {}

bfloat16::operator float() const noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::size_t dtype_size(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return index < kSizes.size() ? kSizes[index] : 0;
}

std::string_view dtype_name(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return index < kNames.size() ? kNames[index] : "unknown";
}

DType parse_dtype(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found != kNames.end()) return static_cast<DType>(found - kNames.begin());
  throw Error("dtype", "must be one of " + joined(kNames, ", ") + ", got " + printable_quote(name));
}

}  // namespace sextant
