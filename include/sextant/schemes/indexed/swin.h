// Makes Swin's biases: a learned number per head for each offset of two patches in a window (Liu et
// al. 2021, 2103.14030, section 3.2).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

// A window of rows x columns patches; patch id is row id / columns, column id % columns. Unset: the
// smallest number that holds all ids; the smallest square if both are unset.
struct Swin {
  std::optional<std::int64_t> rows{}, columns{};  // 1 .. 2^28
};
struct SwinWeights {
  Tensor<double> table{};  // [(2 rows - 1) (2 columns - 1), heads], finite, at most 2^31 numbers
};

// Returns table[(r - r' + rows - 1) (2 columns - 1) + c - c' + columns - 1, head] for query (r, c)
// and key (r', c'), rounded to float32: query minus key. Token n of the sequence has the id
// positions[n]: key n, and query n - offset; position ids of the call of attention() replace the
// list. Calls with more tokens, ids outside the window, or other heads are refused. Throws Error if
// ids are outside the window or the table does not fit.
//
// Its gradient in attention_backward() is a sum per head and offset, [heads, offsets] flat.
std::shared_ptr<const ScoreTerm> swin(const Swin& options, const SwinWeights& weights,
                                      std::span<const std::int64_t> positions);

// Returns the window that swin() uses for these ids.
Swin swin_window(const Swin& options, std::span<const std::int64_t> positions);

// Returns the gradient of the weights from the bias's gradient of attention_backward(), [1, heads x
// offsets]. rows and columns must be given.
SwinWeights swin_backward(const Swin& options, const SwinWeights& weights,
                          View<const double> gradient);

}  // namespace sextant
