// Muon's step of one matrix, in any arithmetic, as the listing of Jordan et al. 2024
// (https://kellerjordan.github.io/posts/muon/) and Liu et al. 2025 (arXiv 2502.16982, section 2.2)
// have it: loops over elements, and nothing shared with the library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace sextant::reference {

template <class Real>
struct PlainMatrix {
  std::size_t rows = 0, columns = 0;
  std::vector<Real> values = std::vector<Real>(rows * columns);
  Real& operator()(std::size_t i, std::size_t j) { return values[i * columns + j]; }
  const Real& operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }

  PlainMatrix transposed() const {
    PlainMatrix other{columns, rows};
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) other(j, i) = (*this)(i, j);
    }
    return other;
  }
  friend PlainMatrix operator*(const PlainMatrix& a, const PlainMatrix& b) {
    PlainMatrix c{a.rows, b.columns};
    for (std::size_t i = 0; i < a.rows; ++i) {
      for (std::size_t j = 0; j < b.columns; ++j) {
        for (std::size_t k = 0; k < a.columns; ++k) c(i, j) += a(i, k) * b(k, j);
      }
    }
    return c;
  }
  // x * a + y * b
  static PlainMatrix sum(double x, const PlainMatrix& a, double y, const PlainMatrix& b) {
    PlainMatrix c{a.rows, a.columns};
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      c.values[i] = Real(x) * a.values[i] + Real(y) * b.values[i];
    }
    return c;
  }
};

template <class Real>
PlainMatrix<Real> newton_schulz_5(const PlainMatrix<Real>& g) {
  using std::sqrt;
  const bool tall = g.rows > g.columns;
  PlainMatrix<Real> x = tall ? g.transposed() : g;
  Real squares(0);
  for (const Real& value : x.values) squares += value * value;
  const Real norm = sqrt(squares) + Real(1e-7);
  for (Real& value : x.values) value = value / norm;
  for (int step = 0; step < 5; ++step) {
    const auto a = x * x.transposed();
    const auto b = PlainMatrix<Real>::sum(-4.7750, a, 2.0315, a * a);
    x = PlainMatrix<Real>::sum(3.4445, x, 1, b * x);
  }
  return tall ? x.transposed() : x;
}

template <class Real>
void muon_step(PlainMatrix<Real>& p, PlainMatrix<Real>& mean, const PlainMatrix<Real>& g,
               double rate, double momentum, double decay) {
  mean = PlainMatrix<Real>::sum(momentum, mean, 1 - momentum, g);
  const auto update = newton_schulz_5(PlainMatrix<Real>::sum(1 - momentum, g, momentum, mean));
  const double longest = static_cast<double>(std::max(p.rows, p.columns));
  p = PlainMatrix<Real>::sum(1 - rate * decay, p, -rate * 0.2 * std::sqrt(longest), update);
}

}  // namespace sextant::reference
