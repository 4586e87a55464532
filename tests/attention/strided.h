// Random arrays in random memory layouts, for the tests of the operator.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "sextant/core/random.h"
#include "sextant/core/tensor.h"

namespace sextant {

// A whole number in [least, most].
inline std::int64_t pick(NumpyRandom& random, std::int64_t least, std::int64_t most) {
  return least +
         static_cast<std::int64_t>(random.bits() % static_cast<std::uint32_t>(most - least + 1));
}

inline bool chance(NumpyRandom& random, double probability) {
  return random.uniform() < probability;
}

// Runs visit(index, n) for every index of a shape, row-major, n counting up.
template <class Visit>
void each_index(const Shape& shape, Visit&& visit) {
  std::array<std::int64_t, kMaxRank> index{};
  for (std::int64_t n = 0; n < shape.count(); ++n) {
    std::int64_t rest = n;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      index[static_cast<std::size_t>(axis)] = rest % shape[axis];
      rest /= shape[axis];
    }
    visit(index, n);
  }
}

// The same values twice: dense, and as a view of a larger buffer whose gaps hold NaN.
template <class T>
struct Strided {
  Tensor<T> dense;
  Tensor<T> buffer;
  View<T> view;
};

// Axes in any order in memory, walked forwards or backwards, with gaps; with `repeat`, sometimes an
// axis of stride 0. `draw()` gives the values.
template <class T, class Draw>
Strided<T> strided(const Shape& shape, NumpyRandom& random, bool repeat, Draw&& draw) {
  const int rank = shape.rank();
  const int repeated =
      repeat && chance(random, 0.3) ? static_cast<int>(pick(random, 0, rank - 1)) : -1;
  std::array<int, kMaxRank> order{};
  for (int axis = 0; axis < rank; ++axis) order[static_cast<std::size_t>(axis)] = axis;
  for (int n = rank - 1; n > 0; --n) {
    std::swap(order[static_cast<std::size_t>(n)],
              order[static_cast<std::size_t>(pick(random, 0, n))]);
  }

  std::array<std::int64_t, kMaxRank> strides{};
  std::int64_t span = 1, first = 0;
  for (int n = 0; n < rank; ++n) {
    const int axis = order[static_cast<std::size_t>(n)];
    if (axis == repeated) continue;
    const std::int64_t step = span * pick(random, 1, 2);
    const bool backwards = chance(random, 0.3);
    strides[static_cast<std::size_t>(axis)] = backwards ? -step : step;
    if (backwards && shape[axis] > 0) first += step * (shape[axis] - 1);
    span = step * std::max<std::int64_t>(shape[axis], 1);
  }

  Strided<T> result;
  result.buffer = Tensor<T>(Shape{span});
  for (T& element : result.buffer.span()) element = std::numeric_limits<T>::quiet_NaN();
  result.view = View<T>(result.buffer.data() + first, shape,
                        std::span(strides.data(), static_cast<std::size_t>(rank)));
  result.dense = Tensor<T>(shape);
  const auto offset = [&](const auto& index) {
    std::int64_t sum = 0;
    for (int axis = 0; axis < rank; ++axis) {
      sum += index[static_cast<std::size_t>(axis)] * strides[static_cast<std::size_t>(axis)];
    }
    return sum;
  };
  each_index(shape, [&](const auto& index, std::int64_t) {
    result.view.data()[offset(index)] = static_cast<T>(draw());
  });
  each_index(shape, [&](const auto& index, std::int64_t n) {
    result.dense.data()[n] = result.view.data()[offset(index)];
  });
  return result;
}

// Standard normal values times `scale`, contiguous.
template <class T>
Tensor<T> normal(const Shape& shape, NumpyRandom& random, double scale = 1) {
  Tensor<T> tensor(shape);
  for (T& element : tensor.span()) element = static_cast<T>(scale * random.normal());
  return tensor;
}

}  // namespace sextant
