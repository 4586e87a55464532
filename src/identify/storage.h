// What the type that an array was stored in does to its numbers; known by its unit roundoff, as the
// name of a type does not travel with a View<const double>.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace sextant::identify {

// Throws Error naming `where` unless it is one of a floating type.
void check_unit_roundoff(std::string_view where, double unit_roundoff);

double rounded_to(double unit_roundoff, double value);
double smallest_normal(double unit_roundoff);

// The types of 16 bits, and up to where they have every whole number.
struct ShortType {
  const char* name;
  double unit_roundoff;
  std::int64_t whole_numbers;
};
inline constexpr std::array<ShortType, 2> kShortTypes = {
    {{"bfloat16", 0x1p-8, 256}, {"float16", 0x1p-11, 2048}}};

// The type of 16 bits that has all these numbers, which are stored in a wider one; nullptr: none.
const ShortType* short_type_of(std::span<const double> values, double unit_roundoff);

// Said of values whose angles were rounded to float32.
inline constexpr std::string_view kFloat32Sentence =
    " The angles were computed in float32, as frameworks do: values drift from the true ones as "
    "positions grow.";

}  // namespace sextant::identify
