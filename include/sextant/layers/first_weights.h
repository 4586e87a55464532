// Provides the first weights of a layer: drawn, or not set yet if they are read from a file.
#pragma once

#include <utility>

#include "sextant/core/random.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/parameters.h"

namespace sextant {

// Requests a layer with weights of any value, which takes no time. Only make_filled() can make one,
// so that no caller gets a layer whose weights were not set.
class UnsetWeights {
  UnsetWeights() = default;

  template <class Make, class Fill>
  friend auto make_filled(const Make& make, const Fill& fill);
};

// Makes a layer or a model whose parameters() fill(parameters) sets, every element of them. `make`
// makes it, with weights as FirstWeights or UnsetWeights: make_zeros([](UnsetWeights unset) {
// return Norm<float>(...); }). Throws Error as both.
template <class Make, class Fill>
auto make_filled(const Make& make, const Fill& fill) {
  auto made = make(UnsetWeights());
  fill(made.parameters());
  return made;
}
// Fill the weights with 0, or with the tensors of a file by load_parameters().
template <class Make>
auto make_zeros(const Make& make) {
  return make_filled(make, [](const auto& parameters) { set_to_zero(parameters); });
}
template <class Make>
auto make_loaded(const TensorFile& file, const Make& make, FileChecksums* checksums) {
  return make_filled(make,
                     [&](const auto& parameters) { load_parameters(file, parameters, checksums); });
}

// The argument of layers' constructors: the generator that draws, or no weights yet.
class FirstWeights {
 public:
  FirstWeights(NumpyRandom& random) noexcept : random_(&random) {}
  FirstWeights(UnsetWeights /*unset*/) noexcept {}

  // Returns a tensor whose elements are draw(random), row by row, or of any value if none are
  // drawn.
  template <class T, class Draw>
  Tensor<T> tensor(const Shape& shape, const Draw& draw) const {
    auto values = Tensor<T>::uninitialized(shape);
    if (random_ == nullptr) return values;
    for (T& value : values.span()) value = static_cast<T>(draw(*random_));
    return values;
  }

 private:
  NumpyRandom* random_ = nullptr;
};

}  // namespace sextant
