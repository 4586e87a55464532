// Views of floating-point elements whose type is known only when the program runs, so that code
// which does not compute with elements exists once.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

// Calls f(pointer to elements of the type).
template <class Void, class F>
decltype(auto) visit_elements(Void* data, DType dtype, const F& f) {
  using std::conditional_t, std::is_const_v;
  switch (dtype) {
    case DType::float32:
      return f(static_cast<conditional_t<is_const_v<Void>, const float, float>*>(data));
    case DType::float16:
      return f(static_cast<conditional_t<is_const_v<Void>, const float16, float16>*>(data));
    case DType::bfloat16:
      return f(static_cast<conditional_t<is_const_v<Void>, const bfloat16, bfloat16>*>(data));
    default:
      return f(static_cast<conditional_t<is_const_v<Void>, const double, double>*>(data));
  }
}

// The address of the element that is `offset` elements further.
template <class Void>
Void* moved(Void* data, DType dtype, std::int64_t offset) noexcept {
  return visit_elements(data, dtype, [&](auto* first) -> Void* { return first + offset; });
}

// Contiguous 8-bit elements times their scale.
struct ScaledElements {
  const std::int8_t* data;
  float scale;
  float operator[](std::int64_t i) const noexcept { return static_cast<float>(data[i]) * scale; }
};

// Elements along an axis; `stride` counts elements. Void is const void, or void where they may be
// written. Rows of int8, which are contiguous and only read, have a scale.
template <class Void>
struct AnyRow {
  Void* data;
  std::int64_t stride, count;
  DType dtype;
  float scale = 1;

  // Calls f(elements), which have [].
  template <class F>
  decltype(auto) visit(const F& f) const {
    if constexpr (std::is_const_v<Void>) {
      if (dtype == DType::int8) {
        return f(ScaledElements{static_cast<const std::int8_t*>(data), scale});
      }
    }
    return visit_elements(data, dtype, f);
  }

  // The elements themselves where they are contiguous and of type T, else null.
  template <class T>
  const T* in_place() const noexcept {
    return dtype == dtype_of<T> && stride == 1 ? static_cast<const T*>(data) : nullptr;
  }

  // Converts all elements, exactly for float64 and for float32 of 16-bit types.
  template <class To>
  void load(To* to) const noexcept {
    visit([&](auto from) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i * stride]);
    });
  }

  // sum[i] += factor * element i, in float64.
  void add_to(double factor, double* sum) const noexcept {
    visit([&](auto from) {
      for (std::int64_t i = 0; i < count; ++i) {
        sum[i] += factor * static_cast<double>(from[i * stride]);
      }
    });
  }

  // The product with `with`, summed in order in float64.
  double dot(const double* with) const noexcept {
    return visit([&](auto from) {
      double sum = 0;
      for (std::int64_t i = 0; i < count; ++i)
        sum += with[i] * static_cast<double>(from[i * stride]);
      return sum;
    });
  }

  // Writes all elements, each rounded once.
  template <class From>
  void store(const From* from) const noexcept requires(!std::is_const_v<Void>) {
    visit_elements(data, dtype, [&](auto* to) {
      using To = std::remove_pointer_t<decltype(to)>;
      for (std::int64_t i = 0; i < count; ++i) to[i * stride] = static_cast<To>(from[i]);
    });
  }
  void fill(double value) const noexcept requires(!std::is_const_v<Void>) {
    visit_elements(data, dtype, [&](auto* to) {
      const auto rounded = static_cast<std::remove_pointer_t<decltype(to)>>(value);
      for (std::int64_t i = 0; i < count; ++i) to[i * stride] = rounded;
    });
  }

  // Elements [begin, begin + length).
  AnyRow narrow(std::int64_t begin, std::int64_t length) const noexcept {
    return {moved(data, dtype, begin * stride), stride, length, dtype};
  }
};

// A view of float32, float64, float16 or bfloat16 elements. One without axes stands for an array
// that was not given.
template <class Void>
class BasicAnyView {
 public:
  BasicAnyView() = default;
  template <class T>
  requires(Floating<std::remove_const_t<T>> && (std::is_const_v<Void> || !std::is_const_v<T>))
      BasicAnyView(const View<T>& view)
  noexcept : data_(view.data()), shape_(view.shape()), dtype_(dtype_of<std::remove_const_t<T>>) {
    for (int axis = 0; axis < rank(); ++axis) {
      strides_[static_cast<std::size_t>(axis)] = view.stride(axis);
    }
  }

  // What may be written may be read.
  operator BasicAnyView<const void>() const noexcept requires(!std::is_const_v<Void>) {
    BasicAnyView<const void> view;
    view.data_ = data_;
    view.shape_ = shape_;
    view.dtype_ = dtype_;
    view.strides_ = strides_;
    return view;
  }

  Void* data() const noexcept { return data_; }
  DType dtype() const noexcept { return dtype_; }
  bool is_given() const noexcept { return rank() > 0; }
  const Shape& shape() const noexcept { return shape_; }
  int rank() const noexcept { return shape_.rank(); }
  std::int64_t size(int axis) const noexcept { return shape_[axis]; }
  std::int64_t stride(int axis) const noexcept { return strides_[static_cast<std::size_t>(axis)]; }
  std::int64_t count() const noexcept { return is_given() ? shape_.count() : 0; }

  // The elements along the last axis at one index per axis before it.
  template <class... Index>
  AnyRow<Void> row(Index... index) const noexcept {
    std::int64_t offset = 0;
    int axis = 0;
    ((offset += index * stride(axis++)), ...);
    return {moved(data_, dtype_, offset), stride(axis), size(axis), dtype_};
  }

 private:
  template <class>
  friend class BasicAnyView;

  Void* data_ = nullptr;
  Shape shape_{};
  DType dtype_ = DType::float32;
  std::array<std::int64_t, kMaxRank> strides_{};
};

template <class Void>
std::int64_t element_size(const BasicAnyView<Void>& view) noexcept {
  return static_cast<std::int64_t>(dtype_size(view.dtype()));
}

// Calls use(row) for all rows along the last axis, in row-major order.
template <class Void, class Use>
void for_each_row_of(const BasicAnyView<Void>& view, const Use& use) {
  if (view.count() == 0) return;
  const int last = view.rank() - 1;
  std::array<std::int64_t, kMaxRank> index{};
  for (;;) {
    std::int64_t offset = 0;
    for (int axis = 0; axis < last; ++axis) {
      offset += index[static_cast<std::size_t>(axis)] * view.stride(axis);
    }
    use(AnyRow<Void>{moved(view.data(), view.dtype(), offset), view.stride(last), view.size(last),
                     view.dtype()});
    int axis = last - 1;
    for (; axis >= 0; --axis) {
      auto& i = index[static_cast<std::size_t>(axis)];
      if (++i < view.size(axis)) break;
      i = 0;
    }
    if (axis < 0) return;
  }
}

using AnyView = BasicAnyView<const void>;
using AnyOutput = BasicAnyView<void>;

}  // namespace sextant
