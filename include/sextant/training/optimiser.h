// Implements the AdamW optimiser.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/layers/parameters.h"

namespace sextant {

struct AdamWOptions {
  double beta1 = 0.9;       // 0 <= beta1 < 1: the share of the mean gradient that is kept
  double beta2 = 0.999;     // 0 <= beta2 < 1: the share of the mean squared gradient that is kept
  double epsilon = 1e-8;    // >= 1e-30: added to the root of the mean squared gradient
  double weight_decay = 0;  // >= 0; only for Parameter::decays
  double clip_norm = 0;     // >= 0: the largest norm of all gradients together; 0: no limit
};

// Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2, in PyTorch's form: the
// decay is multiplied by the learning rate). Step t = 1, 2, .. with gradient g:
//   p <- p (1 - rate * weight_decay)
//   m <- m + (1 - beta1) (g - m),  v <- beta2 v + (1 - beta2) g^2
//   p <- p - rate / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + epsilon)
// in float32; the factors that are the same for all elements are computed in float64.
class AdamW {
 public:
  // Stores names and shapes, not the tensors. Throws Error for options out of range.
  explicit AdamW(const Parameters<float>& parameters, const AdamWOptions& options = {});

  // Makes one step. The gradients are then set to 0, for the next pass to add to. Returns the norm
  // of all gradients together, before clipping: a gradient is used as g * clip_norm / norm if the
  // norm is above clip_norm. If the norm is infinite or NaN, nothing changes and that norm is
  // returned. Throws Error for a rate that is negative or not finite, for lists other than those of
  // the constructor, and for threads out of range. The results do not depend on the threads.
  double step(const Parameters<float>& parameters, const Parameters<float>& gradients,
              double learning_rate, int threads = 0);

  // The data for a checkpoint: the number of steps, and m and v as "m.NAME" and "v.NAME". The list
  // refers to this object.
  std::int64_t steps() const noexcept { return steps_; }
  void set_steps(std::int64_t steps);  // throws Error if steps < 0
  Parameters<float> state();

  const AdamWOptions& options() const noexcept { return options_; }

 private:
  struct Slot {
    std::string name;
    Tensor<float> m, v;
  };
  void check(const char* what, const Parameters<float>& list) const;

  AdamWOptions options_;
  std::vector<Slot> slots_;
  std::int64_t steps_ = 0;
};

}  // namespace sextant
