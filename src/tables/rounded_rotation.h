// A rotation table of another type, each number rounded once.
#pragma once

#include <algorithm>
#include <memory>

#include "sextant/tables/rotation_table.h"

namespace sextant {

template <class To>
RotationTable<To> rounded_rotation(const RotationTable<double>& table) {
  const auto rounded = [](const Tensor<double>& from) {
    auto to = Tensor<To>::uninitialized(from.shape());
    std::ranges::transform(from.span(), to.data(), [](double x) { return static_cast<To>(x); });
    return to;
  };
  RotationTable<To> to = table.template with<To>(rounded(table.cos), rounded(table.sin));
  if (table.keys) to.keys = std::make_shared<RotationTable<To>>(rounded_rotation<To>(*table.keys));
  return to;
}

}  // namespace sextant
