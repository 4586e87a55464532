// The weights that a layer is made with: drawn, or not set yet where they are read from a file.
#pragma once

#include <utility>

#include "sextant/core/random.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/parameters.h"

namespace sextant {

// Says that a layer is made with weights of any value, which takes no time. Only the two functions
// below have one, so that nobody is given a layer whose weights were not set.
class UnsetWeights {
  UnsetWeights() = default;

  template <class Make>
  friend auto make_zeros(const Make& make);
  template <class Make>
  friend auto make_loaded(const TensorFile& file, const Make& make, FileChecksums* checksums);
};

// Makes a layer or a model and sets its parameters() to 0, or to the tensors of a file. `make`
// gives it, with weights as FirstWeights or UnsetWeights: make_zeros([](UnsetWeights unset) {
// return Norm<float>(...); }). Throws Error as `make` and load_parameters(); `checksums` as there.
template <class Make>
auto make_zeros(const Make& make) {
  auto made = make(UnsetWeights());
  set_to_zero(made.parameters());
  return made;
}
template <class Make>
auto make_loaded(const TensorFile& file, const Make& make, FileChecksums* checksums) {
  auto made = make(UnsetWeights());
  load_parameters(file, made.parameters(), checksums);
  return made;
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
