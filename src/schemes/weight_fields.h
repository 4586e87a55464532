// One list per struct of learned weights: kWeights<Weights> names each member once, with its shape
// and meaning. The descriptor's list and the way from and to named tensors come from it.
//
//   template <>
//   inline constexpr auto kWeights<T5Weights> =
//       std::tuple{weight(&T5Weights::table, "table", "[num_buckets, heads]", "the biases")};
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "schemes/descriptors.h"

namespace sextant {

// A member that is a tensor, a list, or a number, which is a tensor [1] by name.
template <class Owner, class T>
struct WeightField {
  T Owner::*member;
  SchemeWeight weight;
};
template <class Owner, class T>
constexpr WeightField<Owner, T> weight(T Owner::*member, std::string_view name,
                                       std::string_view shape, std::string_view meaning) {
  return {member, {name, shape, meaning}};
}

template <class Weights>
inline constexpr std::tuple<> kWeights{};

namespace descriptors {

template <class Weights>
inline constexpr auto kWeightList =
    std::apply([](const auto&... field) { return std::array{field.weight...}; }, kWeights<Weights>);

inline void take(Tensor<double>& member, const Tensor<double>& values) { member = values.clone(); }
inline void take(std::vector<double>& member, const Tensor<double>& values) {
  member.assign(values.span().begin(), values.span().end());
}
inline void take(double& member, const Tensor<double>& values) { member = values.data()[0]; }

inline Tensor<double> tensor_of(Tensor<double>& member) { return std::move(member); }
inline Tensor<double> tensor_of(std::span<const double> member) {
  Tensor<double> values(Shape{static_cast<std::int64_t>(member.size())});
  std::copy(member.begin(), member.end(), values.data());
  return values;
}
inline Tensor<double> tensor_of(const double& member) { return tensor_of(std::span(&member, 1)); }

// Copies of a request's weights, checked.
template <class Weights>
Weights weights_of(const Parameters& given) {
  Weights weights;
  std::apply(
      [&](const auto&... field) {
        (take(weights.*field.member, given.weight(field.weight.name)), ...);
      },
      kWeights<Weights>);
  return weights;
}

template <class Weights>
SchemeWeights named(Weights weights) {
  SchemeWeights list;
  std::apply(
      [&](const auto&... field) {
        (list.emplace(field.weight.name, tensor_of(weights.*field.member)), ...);
      },
      kWeights<Weights>);
  return list;
}

}  // namespace descriptors
}  // namespace sextant
