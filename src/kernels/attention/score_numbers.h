// The steps from a product of a query and a key to its score, and their numbers. They are defined
// here in float64; score_step-inl.h has them in vectors. A step that is added to both is in every
// kernel, forward and backward.
#pragma once

#include <cmath>

namespace sextant::kernels {

// The numbers of a head: in natural units, or times log2(e) if the softmax uses powers of two.
template <class F>
struct ScoreNumbers {
  F scale = 1;
  F softcap = 0;  // 0: none

  // Whether there are steps between the scale and the biases.
  bool has_steps() const noexcept { return softcap > 0; }
  ScoreNumbers without_steps() const noexcept { return {.scale = scale}; }

  // Computes the steps after the scale. Biases are added to its result.
  F score(F scaled) const noexcept {
    return softcap > 0 ? softcap * std::tanh(scaled / softcap) : scaled;
  }
  // Returns the gradient of score()'s argument from that of its result.
  F backward(F gradient, F score) const noexcept {
    if (softcap == 0) return gradient;
    const F tanh = score / softcap;
    return gradient * (1 - tanh * tanh);
  }
};

// For the kernels: times `unit`, rounded.
inline ScoreNumbers<float> rounded(const ScoreNumbers<double>& numbers, double unit) noexcept {
  return {.scale = static_cast<float>(numbers.scale * unit),
          .softcap = static_cast<float>(numbers.softcap * unit)};
}

}  // namespace sextant::kernels
