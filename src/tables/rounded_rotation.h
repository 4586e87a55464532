// A rotation table of another type, each number rounded once.
#pragma once

#include <memory>

#include "core/arrays/converted.h"
#include "sextant/tables/rotation_table.h"

namespace sextant {

template <class To>
RotationTable<To> rounded_rotation(const RotationTable<double>& table) {
  auto to = table.template with<To>(converted<To>(table.cos), converted<To>(table.sin));
  if (table.keys) to.keys = std::make_shared<RotationTable<To>>(rounded_rotation<To>(*table.keys));
  return to;
}

}  // namespace sextant
