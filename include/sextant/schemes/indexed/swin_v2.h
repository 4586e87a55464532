// Makes Swin-v2's biases: a small network computes them from the logarithm of the offset of two
// patches, so that they transfer to other windows (Liu et al. 2021, 2111.09883, section 3.3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

struct SwinV2 {
  // The window in patches; unset: the smallest that holds all ids, the smallest square if both are
  // unset.
  std::optional<std::int64_t> rows{}, columns{};  // 1 .. 2^28
  // The window of training, which scales offsets; unset: the same window.
  std::optional<std::int64_t> pretrained_rows{}, pretrained_columns{};  // 2 .. 2^28
};

// bias = 16 sigmoid(w2 relu(w1 (g(rows), g(columns)) + b1)); all finite.
struct SwinV2Weights {
  Tensor<double> w1{};  // [hidden, 2]: for the offset in rows and in columns
  Tensor<double> b1{};  // [hidden]
  Tensor<double> w2{};  // [heads, hidden]
};

// Returns g of an offset: sign(u) log2(1 + |u|) / 3 with u = 8 offset / (window - 1): within
// +-log2(9) / 3 = +-1.0566 for offsets inside the window. 0 for a window of 1, whose only offset is
// 0.
double swin_v2_coordinate(std::int64_t offset, std::int64_t window);

// Returns the bias by the offset query - key of two patches, computed once per offset and head in
// float64 and rounded to float32 once; ids, windows and errors as swin(). Its gradient in
// attention_backward() is a sum per head and offset.
std::shared_ptr<const ScoreTerm> swin_v2(const SwinV2& options, const SwinV2Weights& weights,
                                         std::span<const std::int64_t> positions);

// Returns the table of the biases, [(2 rows - 1) (2 columns - 1), heads], for swin(). rows and
// columns must be given.
Tensor<double> swin_v2_table(const SwinV2& options, const SwinV2Weights& weights);

// Returns the gradients of the weights from the bias's gradient of attention_backward(), [1, heads
// x offsets]. rows and columns must be given.
SwinV2Weights swin_v2_backward(const SwinV2& options, const SwinV2Weights& weights,
                               View<const double> gradient);

}  // namespace sextant
