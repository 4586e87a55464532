// Types of weights, and matrices of each.
#include "sextant/layers/weight_matrix.h"

#include <string>

#include "core/options/enum_names.h"
#include "sextant/core/error.h"

namespace sextant {

std::string_view name_of(WeightType type) noexcept {
  return enum_name(type, {"float32", "bfloat16", "float16"});
}

namespace layers {

void refuse_narrow(WeightType type) {
  throw Error("model.dtype", "must be float32 to train, save or change weights, got " +
                                 std::string(name_of(type)));
}

}  // namespace layers

template <class T>
WeightMatrix<T> WeightMatrix<T>::uninitialized(const Shape& shape, WeightType type) {
  WeightMatrix matrix;
  if (type == WeightType::bfloat16) {
    matrix.elements_ = Tensor<bfloat16>::uninitialized(shape);
  } else if (type == WeightType::float16) {
    matrix.elements_ = Tensor<float16>::uninitialized(shape);
  } else {
    matrix.elements_ = Tensor<T>::uninitialized(shape);
  }
  return matrix;
}

template class WeightMatrix<float>;
template class WeightMatrix<double>;

}  // namespace sextant
