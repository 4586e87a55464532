// Whether two arrays have the same bits, for the tests of the operator.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/core/tensor.h"

namespace sextant {

template <class T>
::testing::AssertionResult same_bits(View<const T> a, View<const T> b) {
  const auto x = copy_of(a), y = copy_of(b);
  if (!(x.shape() == y.shape())) return ::testing::AssertionFailure() << "different shapes";
  for (std::int64_t n = 0; n < x.count(); ++n) {
    if (std::memcmp(x.data() + n, y.data() + n, sizeof(T)) != 0) {
      return ::testing::AssertionFailure() << "element " << n << " of " << x.shape().to_string();
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace sextant
