// Expands rows of queries and keys into polar coordinates, whose phases are rotated by position
// alone: PoPE (Gopalakrishnan et al. 2025, 2509.10534).
#pragma once

#include "sextant/core/tensor.h"

namespace sextant {

// Writes, for each channel c of a row, its magnitude m_c = log(1 + exp(x_c)) at the phase offset_c:
// out[c] = m_c cos offset_c, out[head_dim + c] = m_c sin offset_c. x: [batch, heads, length,
// head_dim], out: [batch, heads, length, 2 head_dim], any strides; offsets: [head_dim] or [heads,
// head_dim], radians, or empty: 0.
//
// attention() of such rows is PoPE (section 3): give queries no offsets and keys the learned ones,
// options.rotation = rotary() of 2 head_dim channels (half_split), whose pair c has the frequency
// base^(-c / head_dim), and options.scale = 1 / sqrt(head_dim). The score is then scale sum_c mq_c
// mk_c cos((position of key - position of query) frequency_c + offset_c).
// Throws Error if shapes do not fit, an offset is not finite, or arrays overlap.
void polar_rows(View<const float> x, View<const double> offsets, View<float> out, int threads = 0);

// Computes the gradients from dout, that of the rows: dx, of x's shape, and that of the offsets,
// summed over batch and length, of their shape; an empty one is not computed.
void polar_rows_backward(View<const float> x, View<const double> offsets, View<const float> dout,
                         View<float> dx, View<double> doffsets = {}, int threads = 0);

}  // namespace sextant
