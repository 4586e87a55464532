// Provides the first weights of a layer: drawn, or not set yet if they are read from a file.
#pragma once

#include <utility>

#include "sextant/core/random.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/parameters.h"
#include "sextant/layers/weight_matrix.h"

namespace sextant {

// Requests a layer with weights of any value, which takes no time. Only make_filled() can make one,
// so that no caller gets a layer whose weights were not set.
class UnsetWeights {
  explicit UnsetWeights(WeightType dtype) noexcept : dtype_(dtype) {}

  template <class Make, class Fill>
  friend auto make_filled(const Make& make, const Fill& fill, WeightType dtype);
  friend class FirstWeights;

  WeightType dtype_;  // of the matrices
};

// Makes a layer or a model whose parameters() fill(parameters) sets, every element of them. `make`
// makes it, with weights as FirstWeights or UnsetWeights: make_zeros([](UnsetWeights unset) {
// return Norm<float>(...); }). Its matrices have the given type. Throws Error as both.
template <class Make, class Fill>
auto make_filled(const Make& make, const Fill& fill, WeightType dtype) {
  auto made = make(UnsetWeights(dtype));
  fill(made.parameters());
  return made;
}
template <class Make, class Fill>
auto make_filled(const Make& make, const Fill& fill) {
  return make_filled(make, fill, WeightType::float32);
}
// Fill the weights with 0, or with the tensors of a file by load_parameters().
template <class Make>
auto make_zeros(const Make& make) {
  return make_filled(make, [](const auto& parameters) { set_to_zero(parameters); });
}
template <class Make>
auto make_loaded(const TensorFile& file, const Make& make, FileChecksums* checksums,
                 WeightType dtype = WeightType::float32) {
  return make_filled(
      make, [&](const auto& parameters) { load_parameters(file, parameters, checksums); }, dtype);
}

// The argument of layers' constructors: the generator that draws, or no weights yet.
class FirstWeights {
 public:
  FirstWeights(NumpyRandom& random) noexcept : random_(&random) {}
  FirstWeights(UnsetWeights unset) noexcept : dtype_(unset.dtype_) {}

  // Returns a tensor whose elements are draw(random), row by row, or of any value if none are
  // drawn.
  template <class T, class Draw>
  Tensor<T> tensor(const Shape& shape, const Draw& draw) const {
    auto values = Tensor<T>::uninitialized(shape);
    if (random_ == nullptr) return values;
    for (T& value : values.span()) value = static_cast<T>(draw(*random_));
    return values;
  }
  // The same of a matrix, which has the requested type if it is not drawn.
  template <class T, class Draw>
  WeightMatrix<T> matrix(const Shape& shape, const Draw& draw) const {
    if (random_ == nullptr) return WeightMatrix<T>::uninitialized(shape, dtype_);
    return tensor<T>(shape, draw);
  }

 private:
  NumpyRandom* random_ = nullptr;
  WeightType dtype_ = WeightType::float32;
};

}  // namespace sextant
