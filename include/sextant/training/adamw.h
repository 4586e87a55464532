// Implements the AdamW optimiser.
#pragma once

#include <string>
#include <vector>

#include "sextant/training/optimiser.h"

namespace sextant {

// Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2, in PyTorch's form: the
// decay is multiplied by the learning rate). Step t = 1, 2, .. with gradient g:
//   p <- p (1 - rate * weight_decay)
//   m <- m + (1 - beta1) (g - m),  v <- beta2 v + (1 - beta2) g^2
//   p <- p - rate / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + epsilon)
// in float32; the factors that are the same for all elements are computed in float64. state() has m
// and v as "m.NAME" and "v.NAME".
class AdamW final : public Optimiser {
 public:
  explicit AdamW(const Parameters<float>& parameters, const OptimiserOptions& options = {});
  Parameters<float> state() override;
  void update(const Parameters<float>& parameters, const Parameters<float>& gradients,
              const Step& step) override;

 private:
  struct Slot {
    std::string name;
    Tensor<float> m, v;
  };
  std::vector<Slot> slots_;
};

}  // namespace sextant
