// The names of the options of sinusoidal positions.
#include "core/enum_names.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {

std::string_view name_of(SinusoidalLayout value) noexcept {
  return enum_name(value, {"interleaved", "half_split", "cos_first"});
}

std::string_view name_of(Ladder value) noexcept {
  return enum_name(value, {"d", "d/2-1"});
}

std::string_view name_of(Exponent value) noexcept {
  return enum_name(value, {"standard", "doubled", "doubled_unpaired"});
}

std::string_view name_of(OddWidth value) noexcept {
  return enum_name(value, {"extra_sine", "zero_column", "round_up"});
}

std::string_view name_of(Precision value) noexcept {
  return enum_name(value, {"exact", "framework"});
}

}  // namespace sextant
