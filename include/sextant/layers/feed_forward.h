// Implements the feed-forward layer: two linear maps and a nonlinear function between them.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/layers/activation.h"
#include "sextant/layers/linear.h"

namespace sextant {

// Computes out(dropout(activation(in(x)))) (Vaswani et al. 2017, section 3.3). For gated functions
// `in` makes gate and up, [2 ffn_width, width], gate first.
template <class T>
struct FeedForward {
  Activation activation;
  Linear<T> in, out;

  // Throws Error unless width and ffn_width are positive. `out_gain` is the gain of the last map's
  // first weights.
  FeedForward(std::int64_t width, std::int64_t ffn_width, Activation activation, bool with_bias,
              FirstWeights weights, double out_gain = 1);

  struct Saved {
    // [rows, width], [rows, in], [rows, ffn_width]; ReLU needs only one of the latter two.
    View<const T> x, before, after;
    RandomKey key;
  };
  // x, y: [rows, width], contiguous.
  Saved forward(View<const T> x, View<T> y, Pass& pass) const;
  // Overwrites dx and adds to the gradient.
  void backward(const Saved& saved, View<const T> dy, View<T> dx, FeedForward& gradient,
                Pass& pass) const;
  // prefix + "in.", prefix + "out.".
  void append_parameters(Parameters<T>& to, const std::string& prefix);
};

}  // namespace sextant
