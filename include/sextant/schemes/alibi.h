// ALiBi: a score falls by a fixed slope per step of distance (Press et al. 2021, 2108.12409,
// section 3).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sextant/schemes/distance_bias.h"

namespace sextant {

// What heads 0 .. heads - 1 multiply -|distance| by. For a power of two, head h has 2^(-max_bias (h
// + 1) / heads). For other numbers, as in the paper's code: the slopes of the largest power of two
// n below, then the first, third, ... of those of 2n. Within one unit in the last place; exact
// where the exponent is whole. max_bias is 8 in the paper and alibi_bias_max in llm-foundry. Throws
// Error unless heads is in 1 .. 2^20 and max_bias in 0 .. 1000.
std::vector<double> alibi_slopes(std::int64_t heads, double max_bias = 8);

// What becomes of keys in the future, where the paper has none.
enum class BiasDirection {
  symmetric,  // -slope * |distance|; whether the future is visible is the mask's business
  causal,     // the future is hidden, -infinity
};

struct Alibi {
  std::int64_t heads = 1;  // 1 .. 2^20
  BiasDirection direction = BiasDirection::symmetric;
  double max_bias = 8;  // 0 .. 1000
};

// values[head, key - query + length - 1], [heads, 2 length - 1]: -slope * |distance| in float64,
// rounded once. For ids 0 .. length - 1 (or any ids that lie at most length - 1 apart). Throws
// Error when an option is out of its range, and unless length is in 1 .. 2^28 with at most 2^31
// numbers in the table. AttentionOptions::slopes does the same without a table.
DistanceBias alibi(const Alibi& options, std::int64_t length);

std::string_view name_of(BiasDirection direction) noexcept;
// Throws Error(where, ...) that lists the names.
BiasDirection parse_bias_direction(std::string_view name, std::string_view where);

}  // namespace sextant
