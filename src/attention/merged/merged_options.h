// What calls that are merged from parts share: options that they refuse, offsets of rows, loops
// over rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/attention/backward.h"
#include "sextant/core/parallel.h"

namespace sextant::attention_detail {

// Throws Error unless a call has a rotation, and for options with distances of their own.
void check_merged_options(std::string_view function, const AttentionOptions<float>& options);

// Returns the diagonal key of query 0 of each batch row; throws Error for calls without causal.
std::vector<std::int64_t> merged_offsets(std::string_view function, View<const float> q,
                                         View<const float> k,
                                         const AttentionOptions<float>& options);

// Throws Error unless the tokens of q attend among themselves, with causal top_left or
// bottom_right, and for options that move or hide keys or change weights; `form` is the operator in
// messages.
void check_causal_text(std::string_view function, View<const float> q, View<const float> k,
                       const AttentionOptions<float>& options, const std::string& form);

// Throws Error if gradients other than those of q, k, v (and sinks, if the call has any) are
// wanted.
void check_only_rows(std::string_view function, const AttentionGradients<float>& gradients,
                     bool has_sinks = true);

inline bool all_finite(const float* x, std::int64_t count) {
  return std::all_of(x, x + count, [](float value) { return std::isfinite(value); });
}

// f(batch, head, row) on several threads.
template <class F>
void each_row(const Shape& rows, int threads, const F& f) {
  constexpr std::int64_t kRows = 256;  // a task
  const std::int64_t blocks = (rows[2] + kRows - 1) / kRows;
  parallel_for(rows[0] * rows[1] * blocks, threads, [&](std::int64_t task) {
    const std::int64_t head = task / blocks;
    const std::int64_t end = std::min(rows[2], (task % blocks + 1) * kRows);
    for (std::int64_t i = task % blocks * kRows; i < end; ++i) {
      f(head / rows[1], head % rows[1], i);
    }
  });
}

// to += more.
inline void add_rows(View<const float> more, const View<float>& to, int threads) {
  each_row(to.shape(), threads, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    for (std::int64_t c = 0; c < to.size(3); ++c) to(b, h, i, c) += more(b, h, i, c);
  });
}

}  // namespace sextant::attention_detail
