// Each column that confirms a supposed position sharpens the ratio of frequencies, so that the next
// faster column can be predicted: an extended scalar Kalman filter over single values, from
// insensitive to sensitive ones.
#include "identify/sinusoidal/filter.h"

#include <cmath>

namespace sextant::identify {

bool is_exact(const Ratio& ratio) {
  return ratio.variance < kExact * kExact * (1 + ratio.log * ratio.log);
}

Verdict filter(const std::vector<Value>& values, double first, double angle_noise,
               double allowed_wrong, Ratio& ratio) {
  Verdict verdict;
  const bool exact = is_exact(ratio);
  for (const Value& v : values) {
    const double angle = (first + v.row) * (exact ? v.theta : std::exp(ratio.log * v.index));
    const double sensitivity = angle * v.index;  // radians per unit of the logarithm
    const double spread = std::abs(sensitivity) * std::sqrt(ratio.variance);
    if (spread > 0.4) {
      verdict.stuck = true;
      break;
    }
    const double sine = std::sin(angle), cosine = std::cos(angle);
    const double predicted = v.cosine ? cosine : sine;
    const double derivative = v.cosine ? -sine : cosine;
    const double turn = angle_noise * std::abs(angle);
    // Beyond the straight line, in the angle and in the ratio.
    const double bend = 0.5 * spread * (spread + v.index * std::sqrt(ratio.variance));
    const double error = v.error + turn * (std::abs(derivative) + turn) + bend + 1e-100;
    if (error > kUseless) continue;
    const double miss = v.value - predicted;
    verdict.tested += 1;
    if (std::abs(miss) > 3 * error + 4 * spread * std::abs(derivative)) {
      verdict.wrong += 1;
      if (verdict.wrong > allowed_wrong + verdict.tested / 16) break;
      continue;
    }
    const double slope = derivative * sensitivity;
    const double variance = error * error;
    const double predicted_variance = slope * slope * ratio.variance + variance;
    verdict.information += slope * slope / variance;
    verdict.misfit += miss * miss / predicted_variance;
    ratio.log += ratio.variance * slope / predicted_variance * miss;
    ratio.variance *= variance / predicted_variance;
  }
  return verdict;
}

}  // namespace sextant::identify
