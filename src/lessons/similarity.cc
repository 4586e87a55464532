// Cosine similarity in twice the working precision, and the chapter's experiment on it.
#include "sextant/lessons/similarity.h"

#include <array>
#include <cmath>
#include <string>

#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

// The unevaluated sum high + low, |low| <= ulp(high) / 2: about 106 bits.
struct Double2 {
  double high = 0, low = 0;
};

Double2 two_sum(double a, double b) noexcept {  // exact (Knuth)
  const double sum = a + b;
  const double b_rounded = sum - a;
  return {sum, (a - (sum - b_rounded)) + (b - b_rounded)};
}

// Exact while nothing over- or underflows (Dekker's product of halves): on processors without an
// fma instruction, and in WebAssembly, std::fma is a slow function.
Double2 two_product(double a, double b) noexcept {
  constexpr double kSplitter = 0x1p27 + 1;
  const double product = a * b;
  const double a_scaled = kSplitter * a, b_scaled = kSplitter * b;
  const double a_high = a_scaled - (a_scaled - a), a_low = a - a_high;
  const double b_high = b_scaled - (b_scaled - b), b_low = b - b_high;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

// <a, b> as if summed in twice the precision and rounded (Ogita, Rump, Oishi 2005, algorithm 5.3):
// the error is about (count * 2^-53)^2 of the sum of |a b|.
Double2 dot2(const double* a, const double* b, std::int64_t count) noexcept {
  double sum = 0, rest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Double2 product = two_product(a[i], b[i]);
    const Double2 next = two_sum(sum, product.high);
    sum = next.high;
    rest += product.low + next.low;
  }
  return two_sum(sum, rest);
}

// dot / sqrt(norm_a norm_b) with one visible rounding.
double quotient(Double2 dot, Double2 norm_a, Double2 norm_b) noexcept {
  Double2 square = two_product(norm_a.high, norm_b.high);
  square.low += norm_a.high * norm_b.low + norm_a.low * norm_b.high;
  const double root = std::sqrt(square.high);
  const Double2 again = two_product(root, root);
  const double root_low = ((square.high - again.high) - again.low + square.low) / (2 * root);
  const double first = dot.high / root;
  const Double2 back = two_product(first, root);
  return first + ((dot.high - back.high) - back.low + dot.low - first * root_low) / root;
}

// Rows as float64, each multiplied by the power of two that brings its largest entry to [1, 2):
// that changes no cosine, and squares neither overflow nor vanish.
Tensor<double> scaled_rows(View<const double> rows, const char* where) {
  Tensor<double> out = copy_of(rows);
  const std::int64_t width = out.size(1);
  for (std::int64_t row = 0; row < out.size(0); ++row) {
    double* values = out.data() + row * width;
    double largest = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      if (!std::isfinite(values[i])) throw Error(where, "must have finite entries only");
      largest = std::max(largest, std::abs(values[i]));
    }
    if (largest == 0) {
      throw Error(where, "must not be all zeros (a zero vector has no direction), row " +
                             std::to_string(row));
    }
    const int exponent = std::ilogb(largest);
    for (std::int64_t i = 0; i < width; ++i) values[i] = std::scalbn(values[i], -exponent);
  }
  return out;
}

Tensor<double> scaled_vector(View<const double> values, const char* where) {
  if (values.rank() != 1) {
    throw Error(where, "must have one axis, got " + values.shape().to_string());
  }
  return scaled_rows(values.split(0, 1), where);
}

}  // namespace

double cosine_similarity(View<const double> a, View<const double> b) {
  if (a.rank() == 1 && b.rank() == 1 && a.size(0) != b.size(0)) {
    throw Error("cosine_similarity.b", "must be as long as a: " + std::to_string(a.size(0)) +
                                           ", got " + std::to_string(b.size(0)));
  }
  const Tensor<double> x = scaled_vector(a, "cosine_similarity.a");
  const Tensor<double> y = scaled_vector(b, "cosine_similarity.b");
  const std::int64_t width = x.size(1);
  return quotient(dot2(x.data(), y.data(), width), dot2(x.data(), x.data(), width),
                  dot2(y.data(), y.data(), width));
}

Tensor<double> cosine_similarities(View<const double> rows, int threads) {
  if (rows.rank() != 2) {
    throw Error("cosine_similarities.rows",
                "must be [rows, width], got " + rows.shape().to_string());
  }
  const Tensor<double> x = scaled_rows(rows, "cosine_similarities.rows");
  const std::int64_t count = x.size(0), width = x.size(1);
  std::vector<Double2> norms(static_cast<std::size_t>(count));
  Tensor<double> out({count, count});
  parallel_for(count, threads, [&](std::int64_t row) {
    const double* values = x.data() + row * width;
    norms[static_cast<std::size_t>(row)] = dot2(values, values, width);
  });
  parallel_for(count, threads, [&](std::int64_t row) {
    for (std::int64_t other = 0; other <= row; ++other) {
      const Double2 dot = dot2(x.data() + row * width, x.data() + other * width, width);
      out(row, other) = out(other, row) = quotient(dot, norms[static_cast<std::size_t>(row)],
                                                   norms[static_cast<std::size_t>(other)]);
    }
  });
  return out;
}

MixedSimilarity mixed_similarity(const WordVectors& vectors, std::string_view word_a,
                                 std::string_view word_b, std::int64_t position_a,
                                 std::int64_t position_b, const Sinusoidal& options) {
  const std::int64_t width = vectors.width();
  if (options.width != width) {
    throw Error("mixed_similarity.options.width", "must be the width of the vectors, " +
                                                      std::to_string(width) + ", got " +
                                                      std::to_string(options.width));
  }
  const View<const float> vector_a = vectors[word_a], vector_b = vectors[word_b];
  Tensor<double> words({2, width});
  for (std::int64_t i = 0; i < width; ++i) {
    words(0, i) = static_cast<double>(vector_a(i));
    words(1, i) = static_cast<double>(vector_b(i));
  }
  const std::array<std::int64_t, 2> ids{position_a, position_b};
  const Tensor<double> positions = sinusoidal<double>(options, ids);
  const double scale = std::sqrt(static_cast<double>(width));
  Tensor<double> both({2, width});
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t i = 0; i < width; ++i)
      both(row, i) = words(row, i) * scale + positions(row, i);
  }
  const auto similarity = [](const Tensor<double>& pair) {
    return cosine_similarity(pair.view().select(0, 0), pair.view().select(0, 1));
  };
  return {similarity(words), similarity(positions), similarity(both)};
}

}  // namespace sextant
