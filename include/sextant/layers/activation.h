// The nonlinear functions of feed-forward layers.
#pragma once

#include <string_view>

#include "sextant/core/names.h"

namespace sextant {

enum class Activation {
  relu,       // max(x, 0)
  gelu,       // x Phi(x) (Hendrycks and Gimpel 2016, 1606.08415)
  gelu_tanh,  // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), the same paper's approximation
  silu,       // x / (1 + exp(-x))
  swiglu,     // silu(gate) * up: two inputs (Shazeer 2020, 2002.05202)
};

// "gelu_tanh"; parse_name<Activation>() reads it back.
std::string_view name_of(Activation activation) noexcept;

}  // namespace sextant
