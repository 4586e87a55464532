// Numbers as types of 16, 32 and 64 bits hold them, and as people choose them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace sextant::identify {

// Throws Error naming `where` unless it is the unit roundoff of a floating type: an array's type is
// known by it, as the name of a type does not travel with a View<const double>.
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

// Finds the type of 16 bits that has all these numbers of a wider one; nullptr: none has.
const ShortType* short_type_of(std::span<const double> values, double unit_roundoff);

// A number that somebody may have chosen. Roughness says how unlikely that is: of bases 0 for 10000
// and 1 for other well-known ones; 1 + digits for the rest.
struct Round {
  double value;
  double roughness;
};
// 10000, then those of Llama 3 and Code Llama, MLX vision and tutorials.
inline constexpr double kWellKnownBases[] = {10000, 500000, 1000000, 1000, 100};

// The least rough base, and the positive number of fewest digits, within a factor exp(+-tolerance).
Round roundest_base(double estimate, double tolerance);
Round roundest_number(double estimate, double tolerance);

// Said of values whose angles were rounded to float32.
inline constexpr std::string_view kFloat32Sentence =
    " The angles were computed in float32, as frameworks do: values drift from the true ones as "
    "positions grow.";

}  // namespace sextant::identify
