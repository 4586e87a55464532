// Rounding bounds of attention; standard error analysis (Higham, Accuracy and Stability of
// Numerical Algorithms, ch. 3).
#include "layers/rounding.h"

#include <algorithm>
#include <cmath>

namespace sextant {
namespace {

constexpr double kUnit = 0x1p-53;

double largest_norm(View<const double> rows) {
  double largest = 0;
  for (std::int64_t row = 0; row < rows.size(0); ++row) {
    double sum = 0;
    for (std::int64_t i = 0; i < rows.size(1); ++i) sum += rows(row, i) * rows(row, i);
    largest = std::max(largest, sum);
  }
  return std::sqrt(largest);
}

}  // namespace

double largest_magnitude(View<const double> values) {
  double largest = 0;
  for (std::int64_t row = 0; row < values.size(0); ++row) {
    for (std::int64_t i = 0; i < values.size(1); ++i) {
      largest = std::max(largest, std::abs(values(row, i)));
    }
  }
  return largest;
}

double attention_rounding(View<const double> q, View<const double> k, View<const double> v,
                          double scale, double added) {
  const double channels = static_cast<double>(q.size(1));
  const double keys = static_cast<double>(k.size(0));
  const double score =
      (channels + 8) * kUnit * (std::abs(scale) * largest_norm(q) * largest_norm(k) + added);
  return (4 * score + (2 * keys + 8) * kUnit) * largest_magnitude(v);
}

double largest_added(View<const double> q, View<const double> k,
                     const AttentionOptions<double>& options) {
  if (options.bias == nullptr && options.terms.empty()) return 0;
  AttentionOptions<double> plain = options;
  plain.bias = nullptr;
  plain.terms.clear();
  plain.scale = options.scale.value_or(default_scale(options, q.size(3)));
  const Tensor<double> with = attention_weights<double>(q, k, options, {.stage = Stage::biased});
  const Tensor<double> without = attention_weights<double>(q, k, plain, {.stage = Stage::biased});
  double largest = 0;
  for (std::int64_t i = 0; i < with.count(); ++i) {
    const double score = with.data()[i];
    if (std::isfinite(score)) largest = std::max(largest, std::abs(score - without.data()[i]));
  }
  if (logit_term_of(options) == nullptr) return largest;
  return largest * static_cast<double>(q.size(3) + k.size(2));
}

double linear_rounding(const Linear<double>& map, double largest, double error) {
  const std::int64_t out = map.weight.size(0), in = map.weight.size(1);
  double bound = 0;
  for (std::int64_t row = 0; row < out; ++row) {
    double weights = 0;
    for (std::int64_t i = 0; i < in; ++i) weights += std::abs(map.weight(row, i));
    const double offset = map.bias.count() == 0 ? 0 : std::abs(map.bias(row));
    bound = std::max(bound, weights * error +
                                static_cast<double>(in + 1) * kUnit * (weights * largest + offset));
  }
  return bound;
}

double last_row_difference(View<const double> a, View<const double> b) {
  const View<const double> x = a.select(0, a.size(0) - 1), y = b.select(0, b.size(0) - 1);
  double largest = 0;
  for (std::int64_t i = 0; i < x.size(0); ++i) largest = std::max(largest, std::abs(x(i) - y(i)));
  return largest;
}

}  // namespace sextant
