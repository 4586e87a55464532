// Bounds the rounding error of an output of attention: outputs within it are the same if sums run
// in another order.
#pragma once

#include "sextant/attention/attention.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/linear.h"

namespace sextant {

// clang-format off
// A bound on the error of any component of softmax(scale q k^T + biases) v in float64, with q, k and v
// taken as exact. Any order of summation keeps it, to first order in u = 2^-53. With n keys:
//
//   score    e = (channels + 8) u (scale max|q| max|k| + added)
//   weight   4 e + (n + 8) u, relative: a score and the largest one enter each exponential (2 e), and
//            an exponential and their sum each weight (twice that)
//   output   (4 e + (2 n + 8) u) max|v|: n more products and additions
//
// q, k, v: [length, channels], all heads side by side; |q| is the norm of a whole row, which is at
// least that of a head. `added` is largest_added(), or 0.
// clang-format on
double attention_rounding(View<const double> q, View<const double> k, View<const double> v,
                          double scale, double added = 0);

// Returns the largest sum of options.bias and .terms for any visible score, q and k: [batch, heads,
// length, head_dim]. Content terms are themselves sums over channels or keys: their parts are
// assumed to be as large as channels + keys times the largest term.
double largest_added(View<const double> q, View<const double> k,
                     const AttentionOptions<double>& options);

// The same after a linear map of that output: inputs of size <= `largest`, each wrong by <=
// `error`.
double linear_rounding(const Linear<double>& map, double largest, double error);

double largest_magnitude(View<const double> values);  // of a [rows, columns] view

// The largest difference between the last rows of two outputs of the same width.
double last_row_difference(View<const double> a, View<const double> b);

}  // namespace sextant
