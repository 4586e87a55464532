// Biases by distance: ALiBi's slopes and T5's buckets.
#pragma once

#include "sextant/core/tensor.h"
#include "sextant/identify/identify.h"

namespace sextant::identify {

// [heads], positive numbers.
Identification name_slopes(View<const double> slopes, double unit_roundoff);
// [heads, queries, keys] or [heads, keys], where -infinity and less than -1e30 hide; no NaN.
Identification name_alibi(View<const double> bias, double unit_roundoff);
// [queries, keys] or [distances] of whole numbers.
Identification name_buckets(View<const double> buckets);

}  // namespace sextant::identify
