// Plain loops that a compiler turns into vectors.
#include "training/adamw_rows.h"

#include <array>
#include <cmath>

namespace sextant {

void adamw_rows(const AdamWFactors& factors, std::int64_t count, const float* __restrict g,
                float* __restrict p, float* __restrict m, float* __restrict v) {
  const AdamWFactors f = factors;
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = f.gradient * g[i];
    m[i] += f.mean * (gradient - m[i]);
    v[i] = f.kept_square * v[i] + f.square * (gradient * gradient);
    p[i] = f.kept * p[i] - f.step * (m[i] / (f.root * std::sqrt(v[i]) + f.epsilon));
  }
}

double sum_of_squares(const float* values, std::int64_t count) {
  std::array<double, 8> chains{};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::size_t lane = 0; lane < 8; ++lane) {
      const double value = values[i + static_cast<std::int64_t>(lane)];
      chains[lane] += value * value;
    }
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) {
    const double value = values[i];
    chains[lane] += value * value;
  }
  double sum = 0;
  for (const double chain : chains) sum += chain;
  return sum;
}

}  // namespace sextant
