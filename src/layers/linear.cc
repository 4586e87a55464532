// Linear maps as plain loops; float32 weights are summed in float64 and rounded once.
#include "sextant/layers/linear.h"

#include <cmath>
#include <string>

#include "layers/dot.h"
#include "sextant/core/error.h"

namespace sextant {

template <class T>
Linear<T> Linear<T>::random(std::int64_t in, std::int64_t out, NumpyRandom& random,
                            bool with_bias) {
  if (in < 1) throw Error("linear.in", "must be at least 1, got " + std::to_string(in));
  if (out < 1) throw Error("linear.out", "must be at least 1, got " + std::to_string(out));
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  const auto draw = [&](const Shape& shape) {
    Tensor<T> values(shape);
    for (T& value : values.span()) value = static_cast<T>((2 * random.uniform() - 1) * bound);
    return values;
  };
  Linear linear;
  linear.weight = draw({out, in});
  if (with_bias) linear.bias = draw({out});
  return linear;
}

template <class T>
Tensor<T> Linear<T>::operator()(View<const T> x) const {
  if (weight.rank() != 2) {
    throw Error("linear.weight", "must be [out, in], got " + weight.shape().to_string());
  }
  const std::int64_t out = weight.size(0), in = weight.size(1);
  if (bias.count() != 0 && bias.shape() != Shape{out}) {
    throw Error("linear.bias",
                "must be [" + std::to_string(out) + "] or empty, got " + bias.shape().to_string());
  }
  if (x.rank() != 2 || x.size(1) != in) {
    throw Error("linear.x",
                "must be [rows, " + std::to_string(in) + "], got " + x.shape().to_string());
  }
  const std::int64_t rows = x.size(0);
  const Tensor<T> packed = x.is_contiguous() ? Tensor<T>() : copy_of(x);
  const T* source = x.is_contiguous() ? x.data() : packed.data();
  auto y = Tensor<T>::uninitialized({rows, out});
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < out; ++column) {
      const double offset = bias.count() == 0 ? 0 : static_cast<double>(bias(column));
      y(row, column) =
          static_cast<T>(dot(source + row * in, weight.data() + column * in, in) + offset);
    }
  }
  return y;
}

template struct Linear<float>;
template struct Linear<double>;

}  // namespace sextant
