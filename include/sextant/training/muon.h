// Implements the Muon optimiser.
#pragma once

#include <string>
#include <vector>

#include "sextant/training/adamw.h"

namespace sextant {

// Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/) for the matrices of hidden
// layers. A step with gradient G [rows, columns]:
//   M <- M + (1 - momentum) (G - M)
//   X = G + momentum (M - G), divided by its Frobenius norm + 1e-7
//   five times: A = X X^T,  X <- 3.4445 X + (-4.7750 A + 2.0315 A A) X
//   p <- p (1 - rate * weight_decay) - rate * 0.2 sqrt(max(rows, columns)) X
// The Newton-Schulz iteration brings the singular values of X near 1, to about 0.7 .. 1.2. The last
// factor gives X the root mean square of a step of AdamW, about 0.2 (Liu et al. 2025, arXiv
// 2502.16982, section 2.2), so that rates and weight decays of AdamW fit. All in float32.
//
// The hidden matrices are the parameters of rank 2 that decay, with at least two rows and columns,
// except "output.weight", the matrix of the logits. The others (embeddings, biases, gains, tables,
// logits) get a step of AdamW with the same rate. state() has M of the matrices as "m.NAME", and m
// and v of the others as AdamW has them.
class Muon final : public Optimiser {
 public:
  explicit Muon(const Parameters<float>& parameters, const OptimiserOptions& options = {});
  // Returns whether Muon's own rule updates the parameter.
  static bool is_hidden_matrix(const Parameter<float>& parameter) noexcept;
  Parameters<float> state() override;
  void update(const Parameters<float>& parameters, const Parameters<float>& gradients,
              const Step& step) override;

 private:
  struct Slot {
    std::string name;
    Tensor<float> m;
  };
  void update_matrix(const Parameter<float>& parameter, Tensor<float>& gradient, Tensor<float>& m,
                     const Step& step);

  AdamW others_;
  std::vector<Slot> slots_;
  std::vector<float> x_, next_, a_, b_;  // of update_matrix()
};

}  // namespace sextant
