// Implements layer norm and RMS norm.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/core/names.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/parameters.h"
#include "sextant/layers/pass.h"

namespace sextant {

enum class NormKind {
  layer,  // (x - mean) / sqrt(variance + epsilon) gain + bias (Ba et al. 2016, 1607.06450)
  rms,    // x / sqrt(mean(x^2) + epsilon) gain (Zhang and Sennrich 2019, 1910.07467)
};
std::string_view name_of(NormKind kind) noexcept;

// Normalises over the last axis. T: float or double.
template <class T>
struct Norm {
  NormKind kind;
  double epsilon;
  Tensor<T> gain;  // [width], initially ones
  Tensor<T> bias;  // [width], initially zeros; empty for rms

  // Throws Error unless width and epsilon are positive.
  Norm(NormKind kind, std::int64_t width, double epsilon = 1e-5);

  // The data for the backward pass, in the pass's memory.
  struct Saved {
    View<const T> x;      // [rows, width]
    View<const T> stats;  // [2, rows]: means, and 1 / deviations
  };
  // x, y: [rows, width], contiguous; y may not be x.
  Saved forward(View<const T> x, View<T> y, Pass& pass) const;
  // Overwrites dx, or adds to it, and adds to the gradient.
  void backward(const Saved& saved, View<const T> dy, View<T> dx, bool add, Norm& gradient,
                Pass& pass) const;
  void append_parameters(Parameters<T>& to, const std::string& prefix);
};

}  // namespace sextant
