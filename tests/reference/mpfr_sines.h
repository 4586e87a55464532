// The true sine or cosine of position * base^(-numerator / denominator), by MPFR at 400 bits.
#pragma once

#include <mpfr.h>

#include <cstdint>

namespace sextant::reference {

// The float formats by their numbers: bits of the significand and the exponent of the smallest
// normal number.
struct Format {
  int bits;
  int least_exponent;
};
inline constexpr Format kFloat64 = {53, -1022};
inline constexpr Format kFloat32 = {24, -126};
inline constexpr Format kFloat16 = {11, -14};
inline constexpr Format kBfloat16 = {8, -126};

class TrueSine {
 public:
  TrueSine(double base, std::int64_t numerator, std::int64_t denominator, bool cosine,
           double scale = 1);
  ~TrueSine();
  TrueSine(const TrueSine&) = delete;
  TrueSine& operator=(const TrueSine&) = delete;

  // |value - true value at position| in units in the last place of the true value in that format.
  double ulps_off(double value, std::int64_t position, Format format);
  double ulps_off(double value, double position, Format format);
  double difference(double value, std::int64_t position);  // value - true value
  double rounded(std::int64_t position);                   // the true value as a double
  // The position in (0, largest] whose angle comes closest to a multiple of pi / 2 with an odd
  // (zero of the cosine) or an even factor (zero of the sine), from the continued fraction.
  std::int64_t nearest_zero(std::int64_t largest);

 private:
  void evaluate();
  double ulps(double value, Format format);

  bool cosine_;
  mpfr_t frequency_, position_, value_, work_, scale_;
};

}  // namespace sextant::reference
