// Implements what the two KERPLE kernels share: their weights and limits, sizes and initial values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schemes/definition.h"
#include "sextant/core/error.h"
#include "sextant/schemes/distance/kerple.h"

namespace sextant::schemes_detail {

inline constexpr double kMinKerple = 0.01;  // bias_p and bias_a are kept above in the paper's code

// Throws Error("scheme.p") or Error("scheme.a").
inline void check_kerple(std::string_view scheme, const KerpleWeights& weights) {
  const auto view = [](const std::vector<double>& values) {
    return View<const double>(values.data(), {static_cast<std::int64_t>(values.size())});
  };
  if (weights.p.size() != weights.a.size()) {
    throw Error(std::string(scheme) + ".a", "must be as many numbers as p, " +
                                                std::to_string(weights.p.size()) + ", got " +
                                                std::to_string(weights.a.size()));
  }
  check_finite(scheme, "p", view(weights.p));
  check_finite(scheme, "a", view(weights.a));
}

// Sums the gradients of p and a over distances: partials(head, |distance|, p, a) is the pair of
// derivatives.
template <class Partials>
KerpleWeights kerple_backward(std::string_view scheme, const KerpleWeights& weights, double max_p,
                              View<const double> gradient, Partials partials) {
  check_kerple(scheme, weights);
  const auto heads = static_cast<std::int64_t>(weights.p.size());
  const std::int64_t length = length_of_gradient(scheme, heads, gradient);
  KerpleWeights sums{std::vector<double>(weights.p.size()), std::vector<double>(weights.p.size())};
  for (std::int64_t head = 0; head < heads; ++head) {
    const auto h = static_cast<std::size_t>(head);
    const double p = std::clamp(weights.p[h], kMinKerple, max_p);
    const double a = std::max(weights.a[h], kMinKerple);
    for (std::int64_t d = 1; d < length; ++d) {  // the bias of distance 0 is 0 for all p and a
      const double g = gradient(head, length - 1 + d) + gradient(head, length - 1 - d);
      const auto [of_p, of_a] = partials(static_cast<double>(d), p, a);
      sums.p[h] += g * of_p;
      sums.a[h] += g * of_a;
    }
  }
  return sums;
}

}  // namespace sextant::schemes_detail

namespace sextant::descriptors {

inline WeightSizes kerple_sizes(const Given<>& of) {
  return {{"p", {of.request.heads}}, {"a", {of.request.heads}}};
}

// a from U(0, 1), p from U(0, 2), as in the paper's code.
inline void initial_kerple(const Given<>&, InitialWeights& to) {
  to.uniform("p", 0, 2);
  to.uniform("a", 0, 1);
}

}  // namespace sextant::descriptors
