// FIRE's network as a function of straight pieces: relu(w1 x + b1) bends at x = -b1 / w1 only, the
// same point for all heads.
#include "schemes/indexed/fire_network.h"

#include <cmath>
#include <string>

#include "schemes/distance/distances.h"
#include "sextant/core/error.h"

namespace sextant::schemes_detail {
namespace {

void check(const FireWeights& weights) {
  check_weight("fire", "w2", weights.w2, {"heads", "hidden"});
  if (weights.w2.count() == 0)
    throw Error("fire.w2", "must have at least one head and hidden unit");
  const std::int64_t heads = weights.w2.size(0), hidden = weights.w2.size(1);
  check_weight("fire", "w1", weights.w1, {hidden});
  check_weight("fire", "b1", weights.b1, {hidden});
  check_weight("fire", "b2", weights.b2, {heads});
}

// The kink of a hidden unit; one outside (0, infinity) is not reached by any argument.
double kink_of(double w1, double b1) noexcept { return -b1 / w1; }

}  // namespace

FireNetwork::FireNetwork(const FireWeights& weights) {
  check(weights);
  heads_ = weights.w2.size(0);
  const std::int64_t hidden = weights.w2.size(1);
  for (std::int64_t unit = 0; unit < hidden; ++unit) {
    const double kink = kink_of(weights.w1(unit), weights.b1(unit));
    if (kink > 0 && std::isfinite(kink)) kinks_.push_back(kink);
  }
  std::sort(kinks_.begin(), kinks_.end());
  kinks_.erase(std::unique(kinks_.begin(), kinks_.end()), kinks_.end());
  for (std::int64_t head = 0; head < heads_; ++head) {
    for (std::int64_t piece = 0; piece < pieces(); ++piece) {
      double slope = 0, intercept = weights.b2(head);
      for (std::int64_t unit = 0; unit < hidden; ++unit) {
        if (!active(weights.w1(unit), weights.b1(unit), piece)) continue;
        slope += weights.w2(head, unit) * weights.w1(unit);
        intercept += weights.w2(head, unit) * weights.b1(unit);
      }
      slopes_.push_back(slope);
      intercepts_.push_back(intercept);
    }
  }
}

bool FireNetwork::active(double w1, double b1, std::int64_t piece) const noexcept {
  const double kink = kink_of(w1, b1);
  // The piece begins at `from`, one of the kinks or 0: it is as a whole on one side of any kink.
  const double from = piece == 0 ? 0 : kinks_[static_cast<std::size_t>(piece - 1)];
  if (w1 > 0) return kink <= from;
  if (w1 < 0) return kink > from;
  return b1 > 0;
}

double FireNetwork::largest(double max) const noexcept {
  double largest = 0;
  for (std::size_t i = 0; i < slopes_.size(); ++i) {
    const double here = std::abs(slopes_[i]) * max + std::abs(intercepts_[i]);
    largest = here <= largest ? largest : here;  // NaN stays
  }
  return largest;
}

void FireNetwork::backward(const FireWeights& weights, const double* sums,
                           FireWeights& gradients) const {
  for (std::int64_t head = 0; head < heads_; ++head) {
    for (std::int64_t piece = 0; piece < pieces(); ++piece, sums += 2) {
      gradients.b2(head) += sums[0];
      for (std::int64_t unit = 0; unit < weights.w1.size(0); ++unit) {
        const double w1 = weights.w1(unit), b1 = weights.b1(unit);
        if (!active(w1, b1, piece)) continue;
        gradients.w2(head, unit) += w1 * sums[1] + b1 * sums[0];
        gradients.w1(unit) += weights.w2(head, unit) * sums[1];
        gradients.b1(unit) += weights.w2(head, unit) * sums[0];
      }
    }
  }
}

}  // namespace sextant::schemes_detail
