// Computes ALiBi's slopes: one number per head by which scores fall with distance (Press et al.
// 2021, 2108.12409, section 3).
#pragma once

#include <cstdint>
#include <vector>

namespace sextant {

// Returns the factors of -|distance| for heads 0 .. heads - 1. For a power of two, head h has
// 2^(-max_bias (h + 1) / heads). For other numbers, as in the paper's code: the slopes of the
// largest power of two n below, then the first, third, ... of those of 2n. Within one unit in the
// last place; exact if the exponent is whole. max_bias is 8 in the paper and alibi_bias_max in
// llm-foundry. Throws Error unless heads is in 1 .. 2^20 and max_bias in 0 .. 1000.
std::vector<double> alibi_slopes(std::int64_t heads, double max_bias = 8);

}  // namespace sextant
