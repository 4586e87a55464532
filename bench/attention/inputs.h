// The arrays of the cases. The rivals make the same ones from the same seeds with NumPy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/core/dtype.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"
#include "sextant/core/tensor.h"

namespace sextant::bench {

enum Seed : std::uint32_t { kSeedQ = 1, kSeedK, kSeedV, kSeedOutGradient, kSeedBias };

// Uniform in [-1, 1): 2 * numpy.random.RandomState(seed).random_sample(shape) - 1, rounded to T.
template <class T>
Tensor<T> uniform(const Shape& shape, std::uint32_t seed) {
  auto tensor = Tensor<T>::uninitialized(shape);
  NumpyRandom random(seed);
  for (T& value : tensor.span()) value = T(2 * random.uniform() - 1);
  return tensor;
}

// The mean size of a result and two of its values, the middle and the last: enough to see that a
// rival computes the same.
template <class T>
std::vector<double> summary(const Tensor<T>& tensor) {
  double total = 0;
  for (const T value : tensor.span()) {
    const auto x = static_cast<double>(value);
    total += x < 0 ? -x : x;
  }
  const auto values = tensor.span();
  return {total / static_cast<double>(values.size()),
          static_cast<double>(values[values.size() / 2]), static_cast<double>(values.back())};
}

// use(T()) for the type of that name.
template <class Use>
auto with_dtype(const std::string& name, const Use& use) {
  if (name == "bf16") return use(bfloat16());
  if (name == "f16") return use(float16());
  if (name == "f32") return use(float());
  throw Error("dtype", "must be f32, bf16 or f16, got " + name);
}

}  // namespace sextant::bench
