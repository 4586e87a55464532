// Checks of the learned weights of schemes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "sextant/core/tensor.h"

namespace sextant::schemes_detail {

// Throws Error("scheme.name") unless every number is finite.
void check_finite(std::string_view scheme, std::string_view name, View<const double> values);

// An axis of a weight: of one size, or of any size, which has a name.
struct WeightAxis {
  WeightAxis(std::int64_t of) : size(of) {}  // NOLINT(google-explicit-constructor)
  WeightAxis(const char* of) : name(of) {}   // NOLINT(google-explicit-constructor)

  std::int64_t size = -1;
  std::string_view name{};
};

// Throws Error("scheme.name") unless the weight has these axes and is finite. `reason` follows the
// axes in the message.
void check_weight(std::string_view scheme, std::string_view name, const Tensor<double>& weight,
                  std::initializer_list<WeightAxis> axes, std::string_view reason = "");

}  // namespace sextant::schemes_detail
