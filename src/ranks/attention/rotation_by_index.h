// Rotations for calls whose position ids are indices that ranks count, not ids of the caller.
#pragma once

#include <memory>

#include "sextant/tables/rotation_table.h"

namespace sextant::ranks {

// The table without the positions of its rows, so that id n takes row n; null: it has none.
inline std::shared_ptr<const RotationTable<float>> rotation_by_index(
    const RotationTable<float>* table) {
  if (table == nullptr) return {};
  const auto has_positions = [](const RotationTable<float>& of) {
    return of.first_position != 0 || !of.positions.empty();
  };
  if (!has_positions(*table) && !has_positions(table->for_keys())) return {};
  const auto without = [](const RotationTable<float>& of) {
    auto copy = std::make_shared<RotationTable<float>>(of.with(of.cos.clone(), of.sin.clone()));
    copy->set_positions({});
    return copy;
  };
  auto result = without(*table);
  if (table->keys) result->keys = without(*table->keys);
  return result;
}

}  // namespace sextant::ranks
