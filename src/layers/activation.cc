// Names of activations.
#include "sextant/layers/activation.h"

#include "core/options/enum_names.h"

namespace sextant {

std::string_view name_of(Activation activation) noexcept {
  return enum_name(activation,
                   {"relu", "gelu", "gelu_tanh", "silu", "swiglu", "geglu", "geglu_tanh"});
}

}  // namespace sextant
