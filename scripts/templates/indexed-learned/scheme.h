// A learned number per head for each of the first keys (Authors year, arXiv id, section).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant {

struct NewScheme {
  std::int64_t keys = 4;  // 1 .. 2^20
};
struct NewSchemeWeights {
  Tensor<double> table{};  // [keys, heads], finite
};

// table[key id, head] for key ids 0 .. keys - 1, rounded to float32; 0 for others. Token n of the
// sequence has the id positions[n]: key n, and query n - offset; position ids of the call of
// attention() replace the list. Calls with more tokens or other heads are refused. Throws Error
// when an option or a shape is wrong, and unless ids are within +-2^53.
std::shared_ptr<const ScoreTerm> new_scheme(const NewScheme& options,
                                            const NewSchemeWeights& weights,
                                            std::span<const std::int64_t> positions);

// The gradient of the weights from what attention_backward() makes for the bias, [1, heads x keys].
NewSchemeWeights new_scheme_backward(const NewScheme& options, const NewSchemeWeights& weights,
                                     View<const double> gradient);

}  // namespace sextant
