// Declares operations of layers on float32 rows, forward and backward. Rows are contiguous: element
// (row, column) is x[row * width + column]. Nothing overlaps unless documented. threads as in
// parallel_for; results have the same bits for any number of threads and any number of other rows.
// Denormal numbers count as 0.
#pragma once

#include <cstdint>

namespace sextant::kernels {

struct RowShape {
  std::int64_t rows, width;
};

// Layer norm (Ba et al. 2016): y = (x - mean) / sqrt(variance + eps) * gain + bias, per row. mean
// and scale are [rows], kept for the backward pass; scale is 1 / sqrt(variance + eps). bias may be
// null.
void layer_norm(RowShape shape, const float* x, const float* gain, const float* bias, double eps,
                float* y, float* mean, float* scale, int threads);
// RMS norm (Zhang and Sennrich 2019): y = x / sqrt(mean of squares + eps) * gain.
void rms_norm(RowShape shape, const float* x, const float* gain, double eps, float* y, float* scale,
              int threads);

// Gradients of them. dx is overwritten, or added to if `add_dx`; it may be dy. Adds to dgain and
// dbias [width] (dbias may be null).
struct NormGradient {
  float* dx;
  bool add_dx;
  float* dgain;
  float* dbias;
};
void layer_norm_backward(RowShape shape, const float* dy, const float* x, const float* gain,
                         const float* mean, const float* scale, const NormGradient& to,
                         int threads);
void rms_norm_backward(RowShape shape, const float* dy, const float* x, const float* gain,
                       const float* scale, const NormGradient& to, int threads);  // dbias is null

// gelu is x Phi(x), gelu_tanh its approximation (Hendrycks and Gimpel 2016), silu x / (1 + e^-x).
enum class RowActivation { relu, gelu, gelu_tanh, silu };
void activate(RowActivation kind, const float* x, std::int64_t count, float* y,
              int threads);  // y may be x
void activate_backward(RowActivation kind, const float* dy, const float* x, std::int64_t count,
                       float* dx, int threads);  // dx may be dy

// Gated activations (Shazeer 2020): y = f(gate) * up. Rows of gate and up, and of their gradients,
// are gate_row floats apart, like the halves of one projection; rows of y and dy are contiguous.
void gated(RowActivation f, RowShape shape, const float* gate, const float* up,
           std::int64_t gate_row, float* y, int threads);
void gated_backward(RowActivation f, RowShape shape, const float* dy, const float* gate,
                    const float* up, std::int64_t gate_row, float* dgate, float* dup, int threads);

// The result of one row of logits for its target. All zero for a target below 0, which is ignored.
struct TargetLoss {
  double loss = 0;      // -log of the target's probability
  double smoothed = 0;  // against (1 - smoothing) of the target + smoothing / width of every column
  bool counted = false;  // target >= 0
  bool correct = false;  // the largest logit, the first of equal ones, is the target's
};
// Softmax cross entropy, logits [rows, width], targets [rows] below width, losses [rows].
void cross_entropy(RowShape shape, const float* logits, const std::int64_t* targets,
                   double smoothing, TargetLoss* losses, int threads);
// The same; then replaces the logits by scale times the gradient of the smoothed losses' sum.
void cross_entropy_backward(RowShape shape, float* logits, const std::int64_t* targets,
                            double smoothing, double scale, TargetLoss* losses, int threads);

// AdamW (Loshchilov and Hutter 2019, as PyTorch computes it): the gradient is multiplied by
// `factor`, p shrinks by rate * decay, then moves by rate * m' / (sqrt(v') + eps), where m' and v'
// are the moments without their bias at `step` (the first is 1). The gradient is 0 afterwards: here
// its lines are in the cache.
struct AdamWStep {
  std::int64_t step;
  double rate, beta1, beta2, eps, decay, factor;
};
void adamw(const AdamWStep& options, float* gradient, std::int64_t count, float* p, float* m,
           float* v, int threads);
// In float64.
double sum_of_squares(const float* x, std::int64_t count, int threads);

// Dropout (Srivastava et al. 2014): y = x / (1 - rate) with probability 1 - rate, else 0. Which
// elements stay is a function of (seed, stream, index): element i of a call has the index
// first + i and looks at number index % 4 of Philox 4x32-10 with the counter (index / 4, stream).
// The same bits on every instruction set; the backward pass is the same call on dy. 0 <= rate < 1.
struct RowDropout {
  double rate;
  std::uint64_t seed;
  std::uint32_t stream;
  std::int64_t first = 0;  // index of element 0, at least 0
};
void dropout(const RowDropout& options, const float* x, std::int64_t count, float* y,
             int threads);  // y may be x
// y = residual + dropout(x); y may be either.
void add_dropout(const RowDropout& options, const float* residual, const float* x,
                 std::int64_t count, float* y, int threads);

// y += x
void add_elements(const float* x, std::int64_t count, float* y, int threads);
// sums[column] += the sum over rows of x: the gradient of a bias.
void add_column_sums(RowShape shape, const float* x, float* sums, int threads);

}  // namespace sextant::kernels
