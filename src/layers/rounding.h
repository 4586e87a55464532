// How far rounding can move an output of attention: what "the same output" means when sums run in
// another order.
#pragma once

#include "sextant/attention/attention.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/linear.h"

namespace sextant {

// A bound on the error of any component of softmax(scale q k^T + bias) v in float64, q [.., q_len,
// head_dim] and so on taken as exact. Any order of summation keeps it, to first order in u = 2^-53:
// with n keys,
//   score   e = (head_dim + 8) u (scale max|q| max|k| + max|bias|)
//   weight  4 e + (n + 8) u, relative                    (two scores enter each exponential, two
//   exponentials a weight) output  (4 e + (2 n + 8) u) max|v|
// q, k, v: [length, channels] with all heads side by side; |q| is the norm of a whole row, which is
// at least a head's.
double attention_rounding(View<const double> q, View<const double> k, View<const double> v,
                          double scale, const DistanceBias* bias);

// The same after a linear map of that output: inputs of size <= `largest`, each wrong by <=
// `error`.
double linear_rounding(const Linear<double>& map, double largest, double error);

double largest_magnitude(View<const double> values);  // of a [rows, columns] view

// The largest difference between the last rows of two outputs of the same width.
double last_row_difference(View<const double> a, View<const double> b);

}  // namespace sextant
