// The moving average of weights as a sum over all steps, in float64.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace sextant {

inline constexpr double kFloatRoundoff = 0x1p-24;  // half a unit in the last place, relative

struct AveragedWeights {
  std::vector<double> value, error;  // the error of a float32 computation is at most this
};

// `weights` are those after each step, from the first one. A step rounds the difference, the share
// and their product, each at most twice the largest weight, and the sum, at most the largest; it
// keeps a part of the earlier errors.
inline AveragedWeights averaged_weights(const std::vector<std::vector<float>>& weights,
                                        double decay) {
  std::vector<double> factors;
  double roundings = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double t = static_cast<double>(i) + 1, kept = std::min(decay, (t - 1) / (t + 8));
    for (double& factor : factors) factor *= kept;
    factors.push_back(1 - kept);
    roundings = kept * roundings + 3 * 2 + 1;
  }
  AveragedWeights result;
  for (std::size_t i = 0; i < weights[0].size(); ++i) {
    double sum = 0, largest = 0;
    for (std::size_t step = 0; step < weights.size(); ++step) {
      sum += factors[step] * weights[step][i];
      largest = std::max(largest, std::abs(static_cast<double>(weights[step][i])));
    }
    result.value.push_back(sum);
    result.error.push_back(roundings * largest * kFloatRoundoff);
  }
  return result;
}

}  // namespace sextant
