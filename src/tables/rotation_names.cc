// The names of the layouts of rotation tables.
#include "core/options/enum_names.h"
#include "sextant/tables/rotation_table.h"

namespace sextant {

std::string_view name_of(RotaryLayout layout) noexcept {
  return enum_name(layout, {"interleaved", "half_split"});
}

}  // namespace sextant
