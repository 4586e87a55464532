// Implements what the tables of schemes and their gradients share, and combines tables of one kind.
#pragma once

#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/arrays/converted.h"
#include "sextant/core/tensor.h"
#include "sextant/schemes/scheme.h"
#include "sextant/tables/distance_bias.h"
#include "sextant/tables/rotation_table.h"

namespace sextant::layers {

inline std::vector<std::int64_t> first_positions(std::int64_t length) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(length));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  return ids;
}

template <class T>
SchemeWeights widened(const std::map<std::string, Tensor<T>>& weights) {
  SchemeWeights wide;
  for (const auto& [name, tensor] : weights) wide.emplace(name, converted<double>(tensor));
  return wide;
}

// Each puts both into the first, in any order the same. Throws Error, naming positions.scheme, for
// tables that do not fit together.
void merge(Tensor<double>& rows, const Tensor<double>& more);
void merge(RotationTable<double>& rotation, const RotationTable<double>& more);
void merge(DistanceBias& bias, const DistanceBias& more);

}  // namespace sextant::layers
