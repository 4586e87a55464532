// Attention as one would write it in float32.
#include "reference/plain_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace sextant::reference {

Tensor<float> plain_attend(const Attention& call) {
  const std::int64_t batch = call.q.size(0), heads = call.q.size(1), q_len = call.q.size(2),
                     head_dim = call.q.size(3), k_len = call.k.size(2), v_dim = call.v.size(3),
                     group = heads / call.k.size(1);
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  const auto scale = static_cast<float>(call.scale), cap = static_cast<float>(call.softcap);
  Tensor<float> out(Shape{batch, heads, q_len, v_dim});
  std::vector<float> weights(static_cast<std::size_t>(k_len));
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t i = 0; i < q_len; ++i) {
        float most = kHidden;
        for (std::int64_t j = 0; j < k_len; ++j) {
          float& score = weights[static_cast<std::size_t>(j)];
          score = kHidden;
          if (!call.sees(b, h, i, j)) continue;
          score = 0;
          for (std::int64_t d = 0; d < head_dim; ++d) {
            score += static_cast<float>(call.q(b, h, i, d)) *
                     static_cast<float>(call.k(b, h / group, j, d));
          }
          score *= scale;
          if (cap > 0) score = cap * std::tanh(score / cap);
          score += static_cast<float>(call.added(b, h, i, j));
          most = std::max(most, score);
        }
        if (most == kHidden) continue;
        float sum = 0;
        for (float& weight : weights) {
          weight = std::exp(weight - most);
          sum += weight;
        }
        for (std::int64_t c = 0; c < v_dim; ++c) {
          float value = 0;
          for (std::int64_t j = 0; j < k_len; ++j) {
            value += weights[static_cast<std::size_t>(j)] *
                     static_cast<float>(call.v(b, h / group, j, c));
          }
          out(b, h, i, c) = value / sum;
        }
      }
    }
  }
  return out;
}

}  // namespace sextant::reference
