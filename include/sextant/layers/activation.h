// Names the nonlinear functions of feed-forward layers.
#pragma once

#include <string_view>

#include "sextant/core/names.h"

namespace sextant {

enum class Activation {
  relu,        // max(x, 0)
  gelu,        // x Phi(x) (Hendrycks and Gimpel 2016, 1606.08415)
  gelu_tanh,   // x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), the same paper's approximation
  silu,        // x / (1 + exp(-x))
  swiglu,      // silu(gate) * up: two inputs (Shazeer 2020, 2002.05202)
  geglu,       // gelu(gate) * up, the same paper
  geglu_tanh,  // gelu_tanh(gate) * up, as in Gemma
};

// Returns whether it has two inputs, gate and up.
constexpr bool is_gated(Activation activation) noexcept { return activation >= Activation::swiglu; }
// Returns the function of its input, or of the gate: silu for swiglu.
constexpr Activation function_of(Activation activation) noexcept {
  switch (activation) {
    case Activation::swiglu:
      return Activation::silu;
    case Activation::geglu:
      return Activation::gelu;
    case Activation::geglu_tanh:
      return Activation::gelu_tanh;
    default:
      return activation;
  }
}

// Returns "gelu_tanh"; parse_name<Activation>() reads it back.
std::string_view name_of(Activation activation) noexcept;

}  // namespace sextant
