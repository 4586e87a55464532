// The weights that a layer is made with: drawn, or not set yet where they are read from a file.
#pragma once

#include <utility>

#include "sextant/core/random.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/parameters.h"

namespace sextant {

// Says that a layer is made with weights of any value, which takes no time. Only make_filled() has
// one, so that nobody is given a layer whose weights were not set.
class UnsetWeights {
  UnsetWeights() = default;

  template <class Make, class Fill>
  friend auto make_filled(const Make& make, const Fill& fill);
};

// Makes a layer or a model whose parameters() fill(parameters) sets, every element of them. `make`
// gives it, with weights as FirstWeights or UnsetWeights: make_zeros([](UnsetWeights unset) {
// return Norm<float>(...); }). Throws Error as both.
template <class Make, class Fill>
auto make_filled(const Make& make, const Fill& fill) {
  auto made = make(UnsetWeights());
  fill(made.parameters());
  return made;
}
// Filled with 0, or with the tensors of a file by load_parameters().
template <class Make>
auto make_zeros(const Make& make) {
  return make_filled(make, [](const auto& parameters) { set_to_zero(parameters); });
}
template <class Make>
auto make_loaded(const TensorFile& file, const Make& make, FileChecksums* checksums) {
  return make_filled(make,
                     [&](const auto& parameters) { load_parameters(file, parameters, checksums); });
}

// What the constructors of layers take: the generator that draws, or no weights yet.
class FirstWeights {
 public:
  FirstWeights(NumpyRandom& random) noexcept : random_(&random) {}
  FirstWeights(UnsetWeights /*unset*/) noexcept {}

  // A tensor whose elements are draw(random), row by row; of any value where none are drawn.
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
