// Names of activations.
#include "sextant/layers/activation.h"

#include "core/enum_names.h"

namespace sextant {
namespace {

template <>
inline constexpr std::array<std::string_view, 5> kNames<Activation> = {"relu", "gelu", "gelu_tanh",
                                                                       "silu", "swiglu"};

}  // namespace

std::string_view name_of(Activation activation) noexcept { return name(activation); }

Activation parse_activation(std::string_view name, std::string_view where) {
  return parse_name<Activation>(name, where);
}

}  // namespace sextant
