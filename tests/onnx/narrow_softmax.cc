// A softmax whose every step is rounded to 16 bits (see narrow_softmax.h).
#include "onnx/narrow_softmax.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace sextant::onnx {
namespace {

template <class Narrow>
void narrow_row(std::span<double> row) {
  const auto round = [](double x) { return static_cast<double>(Narrow(x)); };
  constexpr double kHidden = -std::numeric_limits<double>::infinity();
  double most = kHidden, sum = 0;
  for (const double score : row) most = std::max(most, round(score));
  const auto share = [&](double score) {
    const double rounded = round(score);
    // The maximum itself without a difference: infinity - infinity is NaN.
    return rounded == kHidden ? 0 : rounded == most ? 1 : round(std::exp(round(rounded - most)));
  };
  for (const double score : row) sum += share(score);
  for (double& score : row) {
    score = most == kHidden ? 0 : round(share(score) / round(sum));
  }
}

}  // namespace

Tensor<double> narrow_softmax(Tensor<double> scores, DType type) {
  const std::int64_t keys = scores.size(3);
  for (std::int64_t n = 0; n < scores.count(); n += keys) {
    const std::span row(scores.data() + n, static_cast<std::size_t>(keys));
    type == DType::float16 ? narrow_row<float16>(row) : narrow_row<bfloat16>(row);
  }
  return scores;
}

void weigh(const Tensor<double>& weights, View<const double> v, Tensor<double>& out) {
  const std::int64_t group = weights.size(1) / v.size(1);
  for (std::int64_t b = 0; b < out.size(0); ++b)
    for (std::int64_t h = 0; h < out.size(1); ++h)
      for (std::int64_t i = 0; i < out.size(2); ++i)
        for (std::int64_t c = 0; c < out.size(3); ++c) {
          double sum = 0;
          for (std::int64_t j = 0; j < v.size(2); ++j) {
            const double weight = weights(b, h, i, j);
            if (weight != 0) sum += weight * v(b, h / group, j, c);
          }
          out(b, h, i, c) = sum;
        }
}

}  // namespace sextant::onnx
