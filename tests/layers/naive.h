// Attention and linear maps written from the formulas, in long double: what this component's tests
// compare with.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/layers/linear.h"

namespace sextant::naive {

using Matrix = std::vector<std::vector<long double>>;

template <class T>
Matrix matrix(View<const T> x) {
  Matrix rows;
  for (std::int64_t row = 0; row < x.size(0); ++row) {
    rows.emplace_back();
    for (std::int64_t i = 0; i < x.size(1); ++i) rows.back().push_back(x(row, i));
  }
  return rows;
}

template <class T>
Matrix apply(const Linear<T>& map, const Matrix& x) {
  Matrix y;
  for (const auto& row : x) {
    y.emplace_back();
    for (std::int64_t out = 0; out < map.weight.size(0); ++out) {
      long double sum = map.bias.count() == 0 ? 0 : map.bias(out);
      for (std::size_t i = 0; i < row.size(); ++i) {
        sum += row[i] * map.weight(out, static_cast<std::int64_t>(i));
      }
      y.back().push_back(sum);
    }
  }
  return y;
}

// Columns [begin, begin + count) of x.
inline Matrix columns(const Matrix& x, std::size_t begin, std::size_t count) {
  Matrix part;
  for (const auto& row : x) {
    const auto first = row.begin() + static_cast<std::ptrdiff_t>(begin);
    part.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
  }
  return part;
}

// softmax(q k^T / sqrt(width)); with `causal`, key j only for queries i >= j.
inline Matrix weights(const Matrix& q, const Matrix& k, bool causal) {
  Matrix map;
  for (std::size_t i = 0; i < q.size(); ++i) {
    std::vector<long double> row;
    long double sum = 0;
    for (std::size_t j = 0; j < k.size(); ++j) {
      long double score = 0;
      for (std::size_t c = 0; c < q[i].size(); ++c) score += q[i][c] * k[j][c];
      score /= std::sqrt(static_cast<long double>(q[i].size()));
      row.push_back(causal && j > i ? 0 : std::exp(score));
      sum += row.back();
    }
    for (long double& weight : row) weight /= sum;
    map.push_back(row);
  }
  return map;
}

inline Matrix mix(const Matrix& map, const Matrix& v) {
  Matrix out;
  for (const auto& row : map) {
    out.emplace_back(v.front().size(), 0.0L);
    for (std::size_t j = 0; j < row.size(); ++j) {
      for (std::size_t c = 0; c < v[j].size(); ++c) out.back()[c] += row[j] * v[j][c];
    }
  }
  return out;
}

// The largest difference between a view and a matrix of the same shape; infinity for another shape.
template <class T>
double distance(View<const T> x, const Matrix& y) {
  const Matrix given = matrix<T>(x);
  long double largest = 0;
  if (given.size() != y.size()) return INFINITY;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (given[i].size() != y[i].size()) return INFINITY;
    for (std::size_t j = 0; j < y[i].size(); ++j) {
      const long double difference = std::abs(given[i][j] - y[i][j]);
      if (!(difference <= largest)) largest = difference;
    }
  }
  return static_cast<double>(largest);
}

}  // namespace sextant::naive
