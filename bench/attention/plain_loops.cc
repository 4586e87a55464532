// Attention as anyone would write it: for a few rows this is hard to beat, and a library's call
// should cost little more.
#include <algorithm>
#include <cmath>

#include "attention/cases.h"

namespace sextant::bench {

void plain_loops(const Problem& problem, const float* q, const float* k, const float* v,
                 float* scores, float* out) {
  const std::int64_t keys = problem.keys;
  const std::int64_t width = problem.head_dim;
  const float scale = 1 / std::sqrt(static_cast<float>(width));
  for (std::int64_t head = 0; head < problem.heads; ++head) {
    const float* k_head = k + head * keys * width;
    const float* v_head = v + head * keys * width;
    for (std::int64_t i = 0; i < problem.queries; ++i) {
      const float* q_row = q + (head * problem.queries + i) * width;
      const std::int64_t visible = problem.causal ? i + 1 + keys - problem.queries : keys;
      float most = -INFINITY;
      for (std::int64_t j = 0; j < visible; ++j) {
        const float* k_row = k_head + j * width;
        float dot = 0;
#pragma omp simd reduction(+ : dot)
        for (std::int64_t c = 0; c < width; ++c) dot += q_row[c] * k_row[c];
        scores[j] = dot * scale;
        most = std::max(most, scores[j]);
      }
      float total = 0;
      for (std::int64_t j = 0; j < visible; ++j) {
        scores[j] = std::exp(scores[j] - most);
        total += scores[j];
      }
      float* row = out + (head * problem.queries + i) * width;
      std::fill_n(row, width, 0.0F);
      for (std::int64_t j = 0; j < visible; ++j) {
        const float weight = scores[j] / total;
        const float* v_row = v_head + j * width;
        for (std::int64_t c = 0; c < width; ++c) row[c] += weight * v_row[c];
      }
    }
  }
}

}  // namespace sextant::bench
