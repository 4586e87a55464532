// FIRE's network as a piecewise linear function of one number for each head.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/schemes/indexed/fire.h"

namespace sextant::schemes_detail {

class FireNetwork {
 public:
  // The shapes are checked; throws Error("fire.w1") and so on.
  explicit FireNetwork(const FireWeights& weights);

  std::int64_t heads() const noexcept { return heads_; }
  std::int64_t pieces() const noexcept { return static_cast<std::int64_t>(kinks_.size()) + 1; }
  // Piece s is for kink s - 1 <= x < kink s; kinks are above 0 and ascend.
  double kink(std::int64_t s) const noexcept { return kinks_[static_cast<std::size_t>(s)]; }
  std::int64_t piece_of(double x) const noexcept {
    return std::upper_bound(kinks_.begin(), kinks_.end(), x) - kinks_.begin();
  }
  double slope(std::int64_t head, std::int64_t piece) const noexcept {
    return slopes_[static_cast<std::size_t>(head * pieces() + piece)];
  }
  double intercept(std::int64_t head, std::int64_t piece) const noexcept {
    return intercepts_[static_cast<std::size_t>(head * pieces() + piece)];
  }
  // The largest |slope| x + |intercept| for x up to `max`.
  double largest(double max) const noexcept;

  // Adds the gradients of w1, b1, w2 and b2: sums[(head pieces + piece) 2] is that of the pieces'
  // values (the sum of g over the pairs of a piece), and + 1 the sum of g x.
  void backward(const FireWeights& weights, const double* sums, FireWeights& gradients) const;

 private:
  // Whether a unit with this first layer is more than 0 within a piece.
  bool active(double w1, double b1, std::int64_t piece) const noexcept;

  std::int64_t heads_;
  std::vector<double> kinks_;
  std::vector<double> slopes_, intercepts_;  // [heads, pieces]
};

}  // namespace sextant::schemes_detail
