// The numbers of a tensor in another type.
#pragma once

#include <algorithm>

#include "sextant/core/tensor.h"

namespace sextant {

template <class To, class From>
Tensor<To> converted(const Tensor<From>& from) {
  auto to = Tensor<To>::uninitialized(from.shape());
  std::ranges::transform(from.span(), to.data(), [](From x) { return static_cast<To>(x); });
  return to;
}

}  // namespace sextant
