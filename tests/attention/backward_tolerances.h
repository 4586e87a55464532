// How far rounding may lead gradients from the oracle's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "reference/attention.h"

namespace sextant {

inline double largest(const Tensor<double>& x) {
  double most = 0;
  for (std::int64_t n = 0; n < x.count(); ++n) most = std::max(most, std::abs(x.data()[n]));
  return most;
}

// How far each gradient of a call may be off in arithmetic with half a unit in the last place
// `eps`: the standard bounds on sums of products. A score is off by score_error, which makes a
// relative error of the probabilities; |dP| and |delta| are at most `product`.
struct Tolerances {
  double q, k, v, added;

  Tolerances(const reference::Attention& call, const Tensor<double>& output_gradient, double eps,
             double output_eps) {
    const auto result = reference::attend(call);
    const double head_dim = static_cast<double>(call.q.size(3)),
                 v_dim = static_cast<double>(call.v.size(3)),
                 keys = static_cast<double>(call.k.size(2)),
                 rows = static_cast<double>(call.q.size(2) * call.q.size(1) * call.q.size(0));
    const double score_error = (head_dim + 14) * eps * (result.largest_score + 20);
    const double weight_error = 2 * score_error + 4 * (keys + 16) * eps;
    const double dout = largest(output_gradient), v_most = largest(call.v);
    const double product = v_dim * dout * v_most;
    const double pair = 2 * product * (weight_error + (v_dim + 8) * eps + output_eps);
    const double scale = std::abs(call.scale);
    q = scale * largest(call.k) * (pair + 2 * product * (keys + 8) * eps);
    k = scale * largest(call.q) * rows * (pair + 2 * product * (rows + 8) * eps);
    v = rows * dout * (weight_error + (rows + 8) * eps);
    added = rows * keys * (pair + 2 * product * (rows * keys) * eps);
  }
};

}  // namespace sextant
