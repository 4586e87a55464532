// A softmax whose every step is rounded to 16 bits, and its product with v: ONNX's
// softmax_precision below that of the operator, which always runs it in float32 or more.
#pragma once

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant::onnx {

// Over the last axis of scores with all biases, -infinity where hidden. Rounded to `type`, float16
// or bfloat16, are the scores, their differences to the maximum, the exponentials, their sum (once)
// and the quotients. Rows of -infinity are zeros.
Tensor<double> narrow_softmax(Tensor<double> scores, DType type);

// out[b, h, i, c] = sum_j weights[b, h, i, j] v[b, h / group, j, c], keys of weight 0 left out:
// what they hold does not matter.
void weigh(const Tensor<double>& weights, View<const double> v, Tensor<double>& out);

}  // namespace sextant::onnx
